"""Credentials and personal data are told from the placeholders of documentation."""

from __future__ import annotations

import random

import pytest

from ragval_pipeline.testing.defects.planters.secrets import CREDENTIALS, PERSONAL
from ragval_pipeline.text.sensitive import sensitive_in, without_sensitive

JWT_IO = (
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ"
    ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
)


@pytest.mark.parametrize("kind", CREDENTIALS)
def test_a_generated_credential_is_found_once_and_whole(kind: str) -> None:
    rng = random.Random(kind)
    for _ in range(5):
        written = CREDENTIALS[kind](rng)
        [found] = sensitive_in(f"Set it up like this:\n{written}\nThen go on.")
        assert found.group == "credential"
        # Nothing of it is left beside the words that it is stored with.
        left = without_sensitive(written).replace(f"[{found.kind}]", " ")
        assert max(map(len, left.replace("=", " ").replace("-", " ").split()), default=0) < 40
        assert found.value not in left


@pytest.mark.parametrize("kind", PERSONAL)
def test_made_up_data_of_a_person_is_found(kind: str) -> None:
    rng = random.Random(kind)
    for _ in range(5):
        [found] = sensitive_in(PERSONAL[kind](rng))
        assert found.group == "personal"


@pytest.mark.parametrize(
    "text",
    [
        "aws_access_key_id = AKIAIOSFODNN7EXAMPLE, secret wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "api_key = sk-xxxxxxxxxxxxxxxxxxxx, sk_live_xxxxxxxxxxxxxxxxxxxxxxxx or <YOUR_KEY>",
        "postgresql://user:password@localhost/db, postgresql://scott:tiger-tiger@hostname/db, https://me:<token>@host/",
        f"Authorization: Bearer {JWT_IO}",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
        "GITHUB_TOKEN=ghp_123456789012345678901234567890123456",
        "Write to joe@example.com, git@github.com:owner/name or you@yourcompany.com; icon@2x.png, @app.route",
        "Pay with 4242 4242 4242 4242, or call +1 555 0100; 2020-01-01T00:00:00+00:00",
        "GB82 WEST 1234 5698 7654 32 is the account of the standard, 1111 2222 3333 4444 is no card",
    ],
)
def test_what_documentation_shows_in_place_of_a_value_is_none(text: str) -> None:
    assert sensitive_in(text) == []


@pytest.mark.parametrize("kind", CREDENTIALS)
def test_a_credential_is_found_beside_a_script_without_blanks(kind: str) -> None:
    rng = random.Random(kind)
    for _ in range(3):
        written = CREDENTIALS[kind](rng)
        [alone] = sensitive_in(written)
        [found] = sensitive_in(f"密钥{written}请保密")
        assert found.value == alone.value


def test_a_password_without_a_user_is_found() -> None:
    [found] = sensitive_in("redis://:vK3xq9LmT2wZ7s@cache.shop.io:6379/0")
    assert (found.group, found.value) == ("credential", "vK3xq9LmT2wZ7s")
    assert sensitive_in("redis://:vK3xq9LmT2wZ7s@localhost:6379, redis://:<password>@cache.shop.io") == []


@pytest.mark.parametrize("domain", ["acmecare.org", "barclays.com", "foodora.se", "mystic.fr", "testo.de"])
def test_a_domain_that_begins_like_a_placeholder_is_somebodys(domain: str) -> None:
    assert [one.kind for one in sensitive_in(f"Write to h.keller@{domain}.")] == ["e-mail address"]
    assert sensitive_in("h.keller@acme.com, h.keller@acme-corp.com, h.keller@mycompany.io, h.keller@foobar.com") == []
