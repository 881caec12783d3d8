"""Check digits of the numbers that people own."""

from __future__ import annotations


def has_luhn_digit(digits: str) -> bool:
    """Whether the last digit of a number is its check digit (ISO/IEC 7812, Luhn's algorithm)."""
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def has_account_digits(code: str) -> bool:
    """Whether letters and digits have the check digits of an IBAN (ISO 13616: the remainder by 97 is 1)."""
    return int("".join(str(int(char, 36)) for char in code[4:] + code[:4])) % 97 == 1
