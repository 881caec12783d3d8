"""Measurements of one subject as a sentence without full stop, by the finding's code."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ragval_pipeline.sources.http.addresses import readable_path
from ragval_pipeline.text.characters import UNSPACED
from ragval_pipeline.text.display import shorten
from ragval_pipeline.text.numbers import show_percent, show_score
from ragval_pipeline.text.printing import plural, show_count, times
from ragval_pipeline.validation.coverage.hosts import STANDS_FOR
from ragval_pipeline.validation.thresholds import UNSPACED_LETTERS

#: Maximum characters of a passage and entries of a list in a sentence.
PASSAGE, LISTED = 110, 3


def _amount(value: Any) -> int:
    return len(value) if isinstance(value, list | tuple) else int(value or 0)


class Names(Protocol):
    """What the points, pages and values of a finding are called in a sentence."""

    def value(self, key: str, value: Any) -> str:
        """The value of a detail."""

    def page(self, url: str) -> str:
        """A page."""


#: Details of a subject, and names, to a sentence.
Note = Callable[[Mapping[str, Any], Names], str]


def _orphan(found: Mapping[str, Any], names: Names) -> str:
    told = f"{found['reason']}; {plural(_amount(found['points']), 'chunk')}"
    pages = [readable_path(str(url)) for url in found.get(STANDS_FOR, ())]
    return f"{told}; the text of {names.value('pages', pages)}" if pages else told


def _others(found: Mapping[str, Any], names: Names) -> str:
    if found.get("within"):
        return f"all of it is also in {names.value('others', [found['within']])}"
    return f"the same as {names.value('others', found['others'])}" if found.get("others") else ""


def _again(found: Mapping[str, Any], _: Names) -> str:
    count = len(found.get("others") or ())
    return "another point has the same number" if count == 1 else f"{count:,} other points have the same number"


def _alike(found: Mapping[str, Any], names: Names) -> str:
    return f"{show_percent(found['similarity'])} like {names.value('others', found['others'])}"


def _strays(found: Mapping[str, Any], _: Names) -> str:
    characters = ", ".join(f"{name} {times(count)}" for name, count in found.get("characters", {}).items())
    return f"{characters} in its {' and '.join(found.get('places') or ['text'])}" if characters else ""


def _hub(found: Mapping[str, Any], _: Names) -> str:
    answered = f"answers {found['queries']:,} of {found['of']:,} questions"
    expected = f"about {found['expected']:,.0f}" if found["expected"] >= 0.5 else "less than one"
    return f"{answered}, where {expected} would be expected"


def _chance(found: Mapping[str, Any], _: Names) -> str:
    return f"random hits pass it {show_percent(found['chance'])} of the time"


def _unfit(found: Mapping[str, Any], _: Names) -> str:
    right = found.get("right") or {}
    if "min" not in right:
        return ""
    return f"right answers score {right['min']:.2f} to {right['max']:.2f} on this index"


def _lost(found: Mapping[str, Any], _: Names) -> str:
    passages = [shorten(passage["text"], PASSAGE) for passage in found.get("passages", [])[:1]]
    quoted = f": “{passages[0]}”" if passages else ""
    return f"{show_percent(found['captured'])} captured, {plural(found['lost'], 'passage')} lost{quoted}"


def _differs(found: Mapping[str, Any], names: Names) -> str:
    told = f"{show_percent(found['coverage'])} of it is on the page"
    if found.get("stands_on"):
        return f"{told}; its text is from {names.page(str(found['stands_on']))}"
    count, replaced, inserted = found.get("changed_words"), found.get("replaced", []), found.get("inserted", [])
    if found.get("words"):
        told = f"{told}, {count:,} of {plural(found['words'], 'word')} {'differs' if count == 1 else 'differ'}"
    such_as = ", such as" if count and count > 1 else ":"
    if replaced:
        words, page = (shorten(replaced[0][name], PASSAGE) for name in ("words", "page"))
        return (
            f"{told}{such_as} “{words}”, where it has “{page}”"
            if words
            else f"{told}, but “{page}” is missing in a line"
        )
    return f"{told}{such_as} “{shorten(inserted[0], PASSAGE)}”, which it does not have" if inserted else told


def _gap(found: Mapping[str, Any], _: Names) -> str:
    shown = ", ".join(map(str, found["missing"][:10]))
    more = "" if found["missing_count"] <= 10 else f" and {found['missing_count'] - 10} more"
    return f"chunk_index {shown}{more} missing, the highest is {found['highest']}"


def _small(found: Mapping[str, Any], _: Names) -> str:
    letters = plural(found["letters"], "letter")
    # The value compared with the threshold; the chunk's words come first.
    weighted = re.search(f"[{UNSPACED}]", str(found.get("text") or ""))
    return f"counts as {letters}, {UNSPACED_LETTERS:g} for each of its script" if weighted else letters


def _twice(found: Mapping[str, Any], _: Names) -> str:
    first, *others = (plural(len(points), "chunk") for points in found["generations"][:4])
    if not others:
        return f"its text is stored {times(round(found['times_stored']))}"
    again = " and ".join(f"again in {size}" for size in others)
    return (
        f"stored {times(1 + len(others))}: in {first}, {again}"
        if len(found["generations"]) <= 4
        else (f"stored {times(len(found['generations']))}")
    )


def _tokens(found: Mapping[str, Any], _: Names) -> str:
    share = f", {show_percent(found['embedded_share'])} of it" if "embedded_share" in found else ""
    about = "" if "embedded_share" in found else "about "
    return f"{about}{plural(found['tokens'], 'token')}; the model reads {found['limit']:,}{share}"


#: Descriptions of a mismatched vector, by ``looks_like``.
LOOKS = {
    "noise": "it does not resemble the vector of any text",
    "another_model": "it resembles vectors of another model",
    "older_text": "it belongs to an older text",
    "another_text": "it belongs to another text",
    "emptied": "it belongs to the text with a field that is now empty",
    "another_point": "it belongs to another point",
    "copied": "points with other texts have the same vector",
    "negated": "it is the vector of the text with the signs flipped",
    "shifted": "it is the vector of the text with a constant added to each number",
    "zero_padded": "it is the vector of the text with some numbers set to 0",
    "unnormalised": "its length is not 1",
    "rescaled": "its length is not that of its text's vector",
}


def _vector(found: Mapping[str, Any], names: Names) -> str:
    if "length" in found:
        return f"length {found['length']:g}, not {found.get('expected_length', 1):g}"
    looks = LOOKS.get(str(found.get("looks_like")), "")
    if found.get("looks_like") == "another_point" and found.get("belongs_to"):
        looks = f"it is that of {names.value('others', [found['belongs_to']])}"
    if found.get("cosine") is None:
        return looks
    return f"its vector has similarity {found['cosine']:.2f} to its own text" + (f"; {looks}" if looks else "")


def _swapped(found: Mapping[str, Any], names: Names) -> str:
    owner = names.value("others", [found["belongs_to"]])
    return (
        f"its vector has similarity {found['cosine']:.2f} to its own text, and {found['cosine_there']:.2f} to {owner}"
    )


def _host(found: Mapping[str, Any], _: Names) -> str:
    return f"{plural(found['pages'], 'page')} with {plural(found['points'], 'chunk')}, such as {found['urls'][0]}"


def _failed(found: Mapping[str, Any], _: Names) -> str:
    return str(found.get("reason") or "").partition(" (found:")[0]


def _high(found: Mapping[str, Any], _: Names) -> str:
    return f"scores {show_score(found.get('best_similarity'))}, its limit is {found.get('threshold'):g}"


def _dead(found: Mapping[str, Any], names: Names) -> str:
    # An expected path without its host is spelled like the page that was meant: then the host is the difference.
    near = [
        str(name) if readable_path(str(name)) == readable_path(target) else readable_path(str(name))
        for target, name in (found.get("near") or {}).items()
    ]
    meant = f"; did you mean {names.value('near', near)}?" if near else ""
    return f"expects {names.value('targets', [readable_path(str(target)) for target in found['targets']])}{meant}"


def _lost_query(found: Mapping[str, Any], names: Names) -> str:
    if found["now"] is None:
        return str(found["reason"])
    before, now = (_first_hit(found[run], names) for run in ("before", "now"))
    return f"first came {before}, now {now}" if before != now else str(found["reason"]).partition(" (found:")[0]


def _first_hit(hit: Mapping[str, Any], names: Names) -> str:
    page = names.page(str(hit["first_page"])) if hit.get("first_page") else "a point without a page"
    return f"{page} with {show_score(hit['best_similarity'])}" if hit.get("first_chunk") else "nothing"


def _garbled(found: Mapping[str, Any], _: Names) -> str:
    read = " ".join(str(found["reads"] or "").split())
    meant = f"“{shorten(found['example'], PASSAGE)}”" + (f" should read “{shorten(read, PASSAGE)}”" if read else "")
    more = found["passages"] - 1
    return f"{meant}, and {plural(more, 'more passage')}" if more else meant


def _asked_twice(found: Mapping[str, Any], names: Names) -> str:
    told = f"the same question as {names.value('ids', found['others'])}"
    return f"{told}, which expects something else" if found["contradicting"] else told


def _crowded(found: Mapping[str, Any], names: Names) -> str:
    repeated = f"{found['repeated']} of {plural(found['hits'], 'hit')} nearly repeat a better one"
    waiting = [names.page(str(url)) for url in found["crowded_out"]]
    beyond = f"no place is left for {names.value('pages', waiting)}" if waiting else ""
    return "; ".join(part for part in (repeated if found["repeated"] else "", beyond) if part)


def _by_words(found: Mapping[str, Any], _: Names) -> str:
    own = (
        f"your search at rank {found['rank']}" if found["rank"] else f"not in {found['looked_at']} hits of your search"
    )
    return f"BM25 answers it at rank {found['rank_by_words']}, {own}"


def _unsteady(found: Mapping[str, Any], _: Names) -> str:
    if found["overlap"] == 1:
        return "the same hits, in another order or with other scores"
    return f"{show_percent(found['overlap'])} of the hits are the same"


def _left_over(found: Mapping[str, Any], _: Names) -> str:
    embedded = found.get("embedded_at")
    return f"embedded {embedded}, the rest of its page {found['page_embedded_at']}" if embedded else ""


def _out_of_reach(found: Mapping[str, Any], _: Names) -> str:
    possible = f"{found['ceiling']:.3g} is possible with {plural(found['n'], 'query')}"
    return f"the gate is {found['gate']:g}, at most {possible}"


def _flat(found: Mapping[str, Any], _: Names) -> str:
    which = f"all {found['pages']}" if found["flat"] == found["pages"] else f"{found['flat']} of the {found['pages']}"
    return f"flat on {which} pages with deeper headings"


def _unanswered(found: Mapping[str, Any], names: Names) -> str:
    return f"not found by {names.value('asked', [f'“{shorten(asked, 60)}”' for asked in found['asked']])}"


#: Sentence about a subject's measurements, by code.
NOTES: Mapping[str, Note] = {
    "coverage.orphan_page": _orphan,
    "coverage.url_variant": lambda found, _: f"also stored as {', '.join(found['others'][:LISTED])}",
    "coverage.stale_page": lambda found, _: f"changed {found['lastmod']}, embedded {found['embedded_at']}",
    "chunk.too_small": _small,
    "chunk.duplicate_text": _others,
    "chunk.duplicate_index": _again,
    "chunk.near_duplicate": _alike,
    "text.zero_width": _strays,
    "text.boilerplate": lambda found, names: f"holds “{names.value('phrases', found['phrases'])}”",
    "retrieval.hub_chunk": _hub,
    "query.weak_oracle": _chance,
    "query.threshold_unfit": _unfit,
    "payload.duplicate_id": _others,
    "vector.identical": _others,
    "chunk.index_gap": _gap,
    "chunk.ingested_twice": _twice,
    "chunk.over_model_limit": _tokens,
    "chunk.one_per_page": _tokens,
    "chunk.order_shuffled": lambda found, _: f"{_amount(found['out_of_order'])} of {found['chunks']} out of order",
    "integrity.not_captured": _lost,
    "integrity.heading_loss": lambda found, names: f"lost: {names.value('headings', found['headings'])}",
    "integrity.drifted": _differs,
    "integrity.gone": _differs,
    "integrity.page_unreadable": lambda found, _: f"{found['reason']}; {plural(found['points'], 'chunk')} not checked",
    "source.page_unfit": lambda found, _: str(found["reason"]),
    "text.glued_words": lambda found, _: f"{show_count(found['joins'])} joined: {', '.join(found['words'][:LISTED])}",
    "vector.text_mismatch": _vector,
    "vector.mixed_models": _vector,
    "vector.swapped": _swapped,
    "coverage.foreign_host": _host,
    "query.failed": _failed,
    "query.negative_scored_high": _high,
    "query.dead_target": _dead,
    "retrieval.dark_page": _unanswered,
    "payload.flat_headings": _flat,
    "query.duplicate": _asked_twice,
    "query.unreachable_gate": _out_of_reach,
    "retrieval.crowded_top_k": _crowded,
    "retrieval.lexical_better": _by_words,
    "retrieval.nondeterministic": _unsteady,
    "regression.query_lost": _lost_query,
    "chunk.stale_tail": _left_over,
    "chunk.token_count_off": lambda found, _: f"{found['claimed']:,} stored, {found['recounted']:,} counted",
    "text.mojibake": _garbled,
    "text.markup": lambda found, _: f"{show_percent(found['share'])} of its letters are markup",
}  # fmt: skip
