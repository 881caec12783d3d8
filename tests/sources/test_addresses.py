"""Parts of addresses, and whether they are public."""

from __future__ import annotations

import pytest

from ragval_pipeline.sources.http.addresses import host_of, is_loopback_or_private, split_url


def test_the_host_is_lower_case_without_dot_and_with_an_unusual_port_only():
    assert host_of("https://WWW.Example.COM.:443/a") == "www.example.com"
    assert host_of("http://example.com:443/a") == "example.com:443"
    assert host_of("http://u:p@[::1]:3000/a") == "[::1]:3000"


def test_an_address_that_cannot_be_split_is_one_path():
    assert split_url("https://x.org/a?b#c").path == "/a"
    assert split_url("http://[::1/a").path == "http://[::1/a"
    assert split_url("http://[::1/a").hostname is None


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:3000/a",
        "http://LOCALHOST./",
        "http://app.localhost/",
        "http://127.0.0.1/",
        "http://127.9.9.9/",
        "http://[::1]:8080/",
        "http://[::ffff:127.0.0.1]/",
        "http://10.1.2.3/",
        "http://192.168.0.1/",
        "http://172.16.0.1/",
        "http://169.254.1.1/",
        "http://[fe80::1]/",
        "http://[fe80::1%25eth0]/",
        "http://[fd00::1]/",
        "http://0.0.0.0:80/",
        "file:///srv/docs/a.html",
        "FILE:a.html",
    ],
)
def test_addresses_that_are_not_public_are_recognised(url):
    assert is_loopback_or_private(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://x.org/",
        "http://8.8.8.8/",
        "http://172.32.0.1/",
        "http://[2606:4700::1]/",
        "https://localhost.org/",
        "https://mylocalhost/",
        "https://x.org/localhost",
        "doc-17",
        "10.0.0.1",
        "",
    ],
)
def test_public_addresses_and_ids_are_not(url):
    assert not is_loopback_or_private(url)
