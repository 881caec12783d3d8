"""Credentials and personal data in a text: what they are and where, without the placeholders of documentation."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Literal, NamedTuple

from ragval_pipeline.text.checksums import has_account_digits, has_luhn_digit

Group = Literal["credential", "personal"]


class Sensitive(NamedTuple):
    """One value that nobody but its owner should read.

    Attributes:
        group: Whether it opens something, or is about a person.
        kind: What it is, such as ``GitHub Token``.
        start: Its first character in the text.
        value: The value itself: it is never shown or stored.
    """

    group: Group
    kind: str
    start: int
    value: str

    @property
    def end(self) -> int:
        """The character after its last one."""
        return self.start + len(self.value)


#: What every credential has in it, as a regular expression of RE2: a few microseconds for a chunk. The rules themselves
#: are only loaded and tried for texts that have one of these. Counts are short: each one counted costs time everywhere.
MAY_HOLD_CREDENTIAL = (
    r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[0-9A-Z]{8}|(?i:aws.{0,20}key)|gh[pousr]_[0-9A-Za-z]{8}|github_pat_"
    r"|gl[a-z]{2,5}-[\w-]{8}|GR1348941|xox[abposr]-|hooks\.slack\.com|[rs]k_live_|SG\.[\w-]{8}|T3BlbkFJ|sk-ant-"
    r"|eyJ[\w-]{8,}\.|PRIVATE KEY|AccountKey=|://[^\s/@:]*:[^\s/@]{8,}@|pypi-AgE|_authToken|[0-9a-z]-us[0-9]"
    r"|sq0csp-|[0-9]{8}:[\w-]{35}|(?:AC|SK)[a-z0-9]{10}|[MNO][\w-]{23,25}\.[\w-]{6}\.|AIza[\w-]{8}|hf_[A-Za-z]{8}"
    r"|(?i:cloudant|softlayer|ibm|hmac)"
)
#: The same for what is about a person.
MAY_HOLD_PERSONAL = r"[\w.+-]@[\w-]|\+[1-9][0-9 ().-]{6}|[0-9](?:[ -]?[0-9]){12}|[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4}"


def sensitive_in(text: str, *, credentials: bool = True) -> list[Sensitive]:
    """The credentials and personal data of a text, in order and without overlap.

    ``credentials``: whether it may hold some; the rules take milliseconds.
    """
    found: list[Sensitive] = []
    for one in chain(_credentials(text) if credentials else (), _personal(text)):
        if not any(one.start < other.end and other.start < one.end for other in found):
            found.append(one)
    return sorted(found, key=lambda one: one.start)


def without_sensitive(text: str) -> str:
    """A text with the kind of each credential and of each piece of personal data in its place."""
    for one in reversed(sensitive_in(text)):
        text = f"{text[: one.start]}[{one.kind}]{text[one.end :]}"
    return text


def folded_value(text: str) -> str:
    """Letters and digits of a text in lower case: values are compared however they are spaced and punctuated."""
    return _NOT_LETTERS.sub("", text).casefold()


_NOT_LETTERS = re.compile(r"[\W_]+")

# --- credentials ---------------------------------------------------------------------------------------------------

#: The rules of detect-secrets. Left out: entropy, "password = ..." and addresses of machines, which documentation is
#: full of; Artifactory's, which any word of capitals meets; private keys, of which it finds only the first line.
_PLUGINS = (
    "aws:AWSKeyDetector", "azure_storage_key:AzureStorageKeyDetector", "basic_auth:BasicAuthDetector",
    "cloudant:CloudantDetector", "discord:DiscordBotTokenDetector", "github_token:GitHubTokenDetector",
    "gitlab_token:GitLabTokenDetector", "ibm_cloud_iam:IbmCloudIamDetector", "ibm_cos_hmac:IbmCosHmacDetector",
    "jwt:JwtTokenDetector", "mailchimp:MailchimpDetector", "npm:NpmDetector", "openai:OpenAIDetector",
    "pypi_token:PypiTokenDetector", "sendgrid:SendGridDetector", "slack:SlackDetector",
    "softlayer:SoftlayerDetector", "square_oauth:SquareOAuthDetector", "stripe:StripeDetector",
    "telegram_token:TelegramBotTokenDetector", "twilio:TwilioKeyDetector",
)  # fmt: skip
#: What detect-secrets 1.5 has no rule for, as in the rules of gitleaks 8 (config/gitleaks.toml): keys of Google,
#: Anthropic and Hugging Face, fine-grained tokens of GitHub, today's keys of OpenAI, whole private keys. AWS writes its
#: secret keys without quotes, and Redis knows passwords without a user.
_FURTHER = (
    ("Private Key", r"-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----)[\w\s+/=:.,()-]){64,}"),
    ("AWS Access Key", r"(?i:aws_?secret_?(?:access_?)?key)\W{1,5}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"),
    ("Google API Key", r"AIza[\w-]{35}"),
    ("Anthropic API Key", r"sk-ant-[a-z0-9]+-[\w-]{80,}"),
    ("Hugging Face Token", r"hf_[A-Za-z]{34}"),
    ("GitHub Token", r"github_pat_\w{82}"),
    ("OpenAI Token", r"sk-[\w-]{20,}T3BlbkFJ[\w-]{20,}"),
    ("Basic Auth Credentials", r"://:([^\s/@:]{8,})@"),
)
#: Characters of a group from which it is the secret, and not the name before it, or a password of documentation.
_SECRET = 8
#: Words of values that stand for a key in documentation; a random key of 40 letters has one of them once in 20,000.
_STANDS_FOR = re.compile(
    r"example|sample|dummy|fake|mock|your|placeholder|redacted|change_?me|insert|replace|xxxx|foobar|johndoe|john\.?doe"
    r"|(?<![a-z])test|secret_?(?:access_?)?key|12345|abcde|qwerty|(?-i:(.)\1{5})",
    re.IGNORECASE,
)
#: Letters of a value in which such a word is looked for: any word turns up in a random text that is long enough.
_LONGEST = 120
#: Bits of a character below which a value is not random, as in gitleaks' rules of tokens with a prefix.
_RANDOM_BITS = 3.0
#: A user's password in an address that documentation uses: of the machine itself, of a container or a made-up host.
_OWN_HOST = re.compile(
    r"@(?:localhost|127\.|0\.0\.0\.0|\[?::1|[a-z0-9_-]+(?=[:/?#\s]|$)|[\w.-]*\.(?:local|test|internal)\b)"
)


@cache
def _rules() -> tuple[tuple[str, re.Pattern[str], Callable[[str], bool] | None], ...]:
    """Name, pattern and further check of every rule."""
    rules: list[tuple[str, re.Pattern[str], Callable[[str], bool] | None]] = []
    for place in _PLUGINS:
        module, _, name = place.partition(":")
        plugin = getattr(import_module(f"detect_secrets.plugins.{module}"), name)
        check = getattr(plugin, "is_formally_valid", None)
        # Tokens are ASCII: a letter of another script beside them ends them as a blank does.
        denied = (re.compile(pattern.pattern, pattern.flags & ~re.UNICODE | re.ASCII) for pattern in plugin.denylist)
        rules += [(plugin.secret_type, pattern, check) for pattern in denied]
    return (*((kind, re.compile(pattern, re.ASCII), None) for kind, pattern in _FURTHER), *rules)


def _credentials(text: str) -> Iterator[Sensitive]:
    for kind, pattern, check in _rules():
        for match in pattern.finditer(text):
            start, value = _secret_of(match, text)
            if _goes_on(text[start - 1 : start]) and _goes_on(text[start : start + 1]):
                continue  # the middle of a longer one
            if check is not None and not check(value):
                continue
            if not _is_placeholder(kind, value, text[match.end() - 1 : match.end() + _HOST]):
                yield Sensitive("credential", kind, start, value)


#: Characters of a host read behind a password.
_HOST = 80


def _secret_of(match: re.Match[str], text: str) -> tuple[int, str]:
    """Where the secret of a match begins, and the secret: tokens go on as long as their letters do."""
    group = max(range(len(match.groups()) + 1), key=lambda number: number > 0 and len(match[number] or "") >= _SECRET)
    start, end = match.span(group)
    quoted = re.match(r"[\s\"'=:]*", match[group])
    start += quoted.end() if quoted and quoted.end() < end - start else 0
    while (
        end < len(text)
        and (_goes_on(text[end]) or text[end] in "_-")
        and (_goes_on(text[end - 1]) or text[end - 1] == ".")
    ):
        end += 1
    value = text[start:end].rstrip()
    if value.startswith("-----"):
        return start, value
    # Passwords may have letters of any script, tokens have none.
    ends = r"\S*" if match.re.pattern.startswith("://") else r"[!-~]*"
    return start, value[: re.match(ends, value).end()]  # type: ignore[union-attr]


def _goes_on(char: str) -> bool:
    """Whether a token goes on with a character: other scripts stand beside a token without a blank."""
    return char.isascii() and char.isalnum()


def _is_placeholder(kind: str, value: str, behind: str) -> bool:
    if kind == "Basic Auth Credentials" and (value.startswith("//") or _OWN_HOST.match(behind.lower())):
        return True  # no password is shorter than a secret
    if kind == "JSON Web Token" and _STANDS_FOR.search(_claims(value)):
        return True
    shown = f"{value} {behind}" if kind == "Basic Auth Credentials" else value[:_LONGEST]
    told = kind != "Private Key" and _STANDS_FOR.search(shown)
    return bool(told or re.search(r"[<>{}$*]|\.\.\.|…", value)) or _bits(value.rpartition("-----")[2]) < _RANDOM_BITS


def _claims(token: str) -> str:
    """What a JSON web token says, as text."""
    import base64

    parts = (part + "=" * (-len(part) % 4) for part in token.split(".")[:2])
    return " ".join(base64.urlsafe_b64decode(part).decode("utf-8", "replace") for part in parts)


def _bits(value: str) -> float:
    """Entropy of a value's characters, in bits a character."""
    counts = Counter(value).values()
    total = len(value)
    return -sum(count / total * math.log2(count / total) for count in counts) if total else 0.0


# --- personal data -------------------------------------------------------------------------------------------------

_EMAIL = re.compile(
    r"(?<![\w.%+/:@-])[A-Za-z0-9_][\w.%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.)+([A-Za-z]{2,24})(?![\w@(-])", re.ASCII
)
_PHONE = re.compile(r"(?<![\w+.])\+[1-9]\d{0,2}(?:[ .-]?\(?\d{1,5}\)?){2,6}(?![\w.]?\d)", re.ASCII)
_CARD = re.compile(r"(?<![\w.+-])[3-6](?:[ -]?\d){12,18}(?![\w-]|\.\d)", re.ASCII)
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])")
#: Domains and names that nobody has (RFC 2606, RFC 6761), or that documentation uses for somebody.
_NO_DOMAIN = re.compile(
    r"(?:^|\.)(?:example|test|invalid|localhost|local|internal)$"
    r"|(?:^|\.|-)(?:(?:example|your)[\w-]*|(?:my|some|foo|bar|test|acme|contoso|fabrikam)-?"
    r"(?:domain|company|corp|inc|org|app|site|host|server|mail|name|project|business|shop|team|bar|baz|test|\d+)?)\."
    r"|^(?:domain|company|mail|email|host|hostname|server|site|mydomain)\.",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"(?:git|hg|svn|no-?reply|do-?not-?reply|user(?:name)?\d*|you|your[\w.-]*|me|name|first[\w.]*last[\w.]*|some(?:one|body)|foo|bar"
    r"|(?:john|jane)[._-]?(?:doe|smith)?|alice|bob|test[\w.-]*|example|email|mail|admin|root)",
    re.IGNORECASE,
)
#: What looks like a domain and is the name of a file.
_FILE_NAMES = "png jpg jpeg gif svg webp css js mjs ts tsx jsx json py rb go rs md html xml yaml yml toml txt"
_FILES = frozenset(_FILE_NAMES.split())
#: Card numbers that payment services publish for tests, and account numbers of the standard's examples.
_PUBLISHED_NUMBERS = (
    "4242424242424242 4000056655665556 5555555555554444 2223003122003222 5200828282828210 5105105105105100 "
    "378282246310005 371449635398431 378734493671000 6011111111111117 6011000990139424 3056930009020004 "
    "36227206271667 3566002020360505 6200000000000005 4111111111111111 4012888888881881 4000000000000002 "
    "5424000000000015 30569309025904 38520000023237 3530111333300000 4007000000027 4222222222222 "
    "de89370400440532013000 gb82west12345698765432 gb29nwbk60161331926819 fr1420041010050500013m02606 "
    "nl91abna0417164300 be68539007547034 ch9300762011623852957 at611904300234573201 es9121000418450200051332 "
)
_PUBLISHED = frozenset(_PUBLISHED_NUMBERS.split())
_PHONE_DIGITS = range(8, 16)
_CARD_DIGITS = range(13, 20)
_IBAN_LETTERS = range(15, 35)


def _personal(text: str) -> Iterator[Sensitive]:
    if "@" in text:
        for match in _EMAIL.finditer(text):
            name, _, domain = match[0].partition("@")
            known = match[1].lower() in _FILES or _NO_DOMAIN.search(domain) or _NOBODY.fullmatch(name)
            if not known:
                yield Sensitive("personal", "e-mail address", match.start(), match[0])
    for kind, pattern, check in (
        ("card number", _CARD, _is_card),
        ("bank account", _IBAN, _is_iban),
        ("phone number", _PHONE, _is_phone),
    ):
        for match in pattern.finditer(text):
            value = match[0].rstrip(" -")
            if check(folded_value(value)):
                yield Sensitive("personal", kind, match.start(), value)


def _is_phone(digits: str) -> bool:
    """Whether a number may be somebody's: numbers of 555-01xx and those that count up are nobody's."""
    counted = any(run in digits for run in ("12345", "23456", "54321", "98765"))
    return (
        len(digits) in _PHONE_DIGITS and not counted and "55501" not in digits and not re.search(r"(\d)\1{5}", digits)
    )


def _is_card(digits: str) -> bool:
    """Whether a number has the prefix, the length and the check digit of a payment card (ISO/IEC 7812)."""
    if (
        len(digits) not in _CARD_DIGITS
        or digits in _PUBLISHED
        or len(set(digits)) < 5
        or not _CARD_PREFIX.match(digits)
    ):
        return False
    return has_luhn_digit(digits)


_CARD_PREFIX = re.compile(r"4(?:.{12}|.{15}|.{18})$|5[1-5].{14}$|2[2-7].{14}$|3[47].{13}$|6(?:011|5).{12,14}$|35.{14}$")


def _is_iban(letters: str) -> bool:
    """Whether a number has the check digits of an account (ISO 13616: mod 97)."""
    if len(letters) not in _IBAN_LETTERS or letters in _PUBLISHED or _STANDS_FOR.search(letters):
        return False
    return has_account_digits(letters)
