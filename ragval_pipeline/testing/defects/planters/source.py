"""Defects of the sitemap: not there, not readable, empty, with dates that cannot be true."""

from __future__ import annotations

import datetime as dt
import random

from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import ALL, Amount, Planted, defect
from ragval_pipeline.testing.defects.site import SITEMAP_FILE

#: Port of the TCP multiplexer (RFC 1078), which no machine of today serves.
CLOSED_PORT = 1


@defect(
    "source.unreachable", kind="site", describe="Makes the suite look for the sitemap at a port where nothing listens."
)
def wrong_port(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    corpus.settings["source"]["sitemap"] = f"http://127.0.0.1:{CLOSED_PORT}/{SITEMAP_FILE}"
    corpus.settings["retry"] = {"max": 1, "delay_s": 0.05}
    return Planted("source.unreachable", frozenset({corpus.sitemap_location}))


@defect("source.unreachable", kind="site", variant="file", describe="Deletes sitemap.xml from the built site.")
def no_file(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    del corpus.site.files[SITEMAP_FILE]
    return Planted("source.unreachable", frozenset({corpus.sitemap_location}))


@defect("source.malformed", kind="site", describe="Cuts sitemap.xml in half.")
def cut_in_half(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    text = corpus.site.files[SITEMAP_FILE]
    corpus.site.files[SITEMAP_FILE] = text[: len(text) // 2]
    return Planted("source.malformed", frozenset({corpus.sitemap_location}))


@defect("source.malformed", kind="site", variant="doctype", describe="Adds a DOCTYPE with an entity to sitemap.xml.")
def doctype(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    declaration, _, rest = corpus.site.files[SITEMAP_FILE].partition("\n")
    bomb = '<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    corpus.site.files[SITEMAP_FILE] = f"{declaration}\n{bomb}\n{rest}"
    return Planted("source.malformed", frozenset({corpus.sitemap_location}))


@defect("source.malformed", kind="site", variant="html", describe="Puts the site's start page in place of sitemap.xml.")
def html_instead(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    corpus.site.files[SITEMAP_FILE] = corpus.site.html(corpus.scope_urls[0])
    return Planted("source.malformed", frozenset({corpus.sitemap_location}))


@defect("source.empty", kind="site", describe="Sets source.include to a pattern that matches no page.")
def nothing_included(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    corpus.settings["source"]["include"] = ["/handbook/**"]
    return Planted("source.empty", frozenset({corpus.sitemap_location}))


@defect("source.empty", kind="site", variant="no-urls", describe="Removes every entry from sitemap.xml.")
def no_entries(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    corpus.site.set_entries(())
    return Planted("source.empty", frozenset({corpus.sitemap_location}))


@defect("source.suspicious_lastmod", kind="site", describe="Stamps every page of the sitemap with the same lastmod.")
def stamped(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    oldest = min(entry.lastmod or "" for entry in corpus.site.entries)
    corpus.site.set_lastmod({entry.url: oldest for entry in corpus.site.entries})
    return Planted("source.suspicious_lastmod", frozenset({corpus.sitemap_location}))


@defect(
    "source.suspicious_lastmod",
    kind="site",
    variant="future",
    describe="Moves every lastmod of the sitemap into the future.",
    amounts=(ALL,),
)
def in_the_future(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    today = dt.datetime.now(dt.UTC).date()
    dates = {
        entry.url: (today + dt.timedelta(days=366 + number)).isoformat()
        for number, entry in enumerate(corpus.site.entries)
    }
    corpus.site.set_lastmod(dates)
    return Planted("source.suspicious_lastmod", frozenset({corpus.sitemap_location}))
