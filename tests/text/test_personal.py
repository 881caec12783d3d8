from __future__ import annotations

import pytest

from ragval_pipeline.text.personal import is_card, is_iban, mask_personal


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("mail bob.smith@example.co.uk please", "mail [email] please"),
        ("call +49 (0)171 123-4567 now", "call [phone] now"),
        ("card 4111 1111 1111 1111 declined", "card [card] declined"),
        ("my account DE89 3704 0044 0532 0130 00", "my account [iban]"),
        ("from 192.168.1.17", "from [ip]"),
        ("from fe80::1ff:fe23:4567:890a", "from [ip]"),
        ("my password is hunter22!", "my password is [key]"),
        ("api_key=abcd efgh", "api_key=[key] efgh"),
        ("use sk-abcDEF1234567890xyz12345 then", "use [key] then"),
        ("AKIAIOSFODNN7EXAMPLE is refused", "[key] is refused"),
        ("a1b2c3d4-e5f6-7890-abcd-ef0123456789 fails", "[key] fails"),
        ("https://me:pw@host.example/x fails", "https://[key]@host.example/x fails"),
        ("where is order 1234567890123456", "where is order [number]"),
        ("电话13812345678谢谢", "电话[number]谢谢"),
        ("電話は090-1234-5678です", "電話は[phone]です"),
        ("从192.168.1.17登录", "从[ip]登录"),
        ("账户DE89370400440532013000吗", "账户[iban]吗"),
        ("密钥AKIAIOSFODNN7EXAMPLE", "密钥[key]"),
        ("AKIAIOSFODNN7EXAMPLE refused", "[key] refused"),
        ("Tel.0170 1234567", "Tel.[phone]"),
        ("nr,0170-7654321", "nr,[phone]"),
        ("Tel01701234567", "Tel[phone]"),
        ("tel0170 1234567 bitte", "tel[phone] bitte"),
        ("order123456789012", "order[number]"),
        ("call 01701234567now", "call [phone]now"),
        ("ring 0170.1234567", "ring [phone]"),
        ("write bob[at]gmail.com", "write [email]"),
        ("write bob.smith (at) gmail (dot) com today", "write [email] today"),
        ("write bob at gmail dot com", "write [email]"),
        ("write bob@gmail[dot]com", "write [email]"),
    ],
)
def test_personal_data_becomes_its_kind(typed: str, shown: str) -> None:
    text, found = mask_personal(typed)
    assert text == shown
    assert sum(found.values()) == 1


@pytest.mark.parametrize(
    "typed",
    [
        "Is Python 3.11.4 faster than 3.12?",
        "What changed on 2024-05-01 at 10:30:45?",
        "releases 2023-2024",
        "error 0x80070005 on port 8080",
        "does it listen on 127.0.0.1 and ::1?",
        "how is a token counted",
        "3.141592653589 is pi",
        "KB5034441 and v20240501 fail",
        "error 0x8007000512 on sha1",
        "1.234.567 Seiten und 1,234,567 pages",
        "look at the dot in args[at] of utf8mb4",
        "what is log4j2 2021-12-10",
        "std::vector::push_back",
        "what is the internationalization_configuration_setting",
    ],
)
def test_what_questions_ask_about_stays(typed: str) -> None:
    assert mask_personal(typed) == (typed, {})


def test_checksums_tell_cards_and_accounts_from_other_numbers() -> None:
    assert is_card("4111-1111-1111-1111")
    assert not is_card("4111-1111-1111-1112")
    assert is_iban("GB82 WEST 1234 5698 7654 32")
    assert not is_iban("GB83 WEST 1234 5698 7654 32")
