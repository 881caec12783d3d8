"""The catalogue of everything that can be wrong with an index: the only source of codes, severities and remedies."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from ragval_pipeline.findings.model import OF_TEXTS, OF_VECTORS, Aspect, Severity

Level = Literal["subject", "corpus", "run"]
Action = Literal["reingest", "delete", "chunker", "setting", "site", "query", "report"]


@dataclass(frozen=True)
class FindingType:
    """One row of the catalogue.

    Attributes:
        code: ``group.name``.
        severity: Severity unless the suite sets another.
        level: Whether the code holds for single subjects, for the corpus as a whole, or once a run.
        group: Group of measurements that detects it (``ragval run --only``).
        subject_kind: Kind of its subjects.
        action: The part of ``remediation.json`` that fixes it.
        title: What is wrong, as a heading: "Pages missing from the index".
        means: Predicate for one subject: "(the page /a) of the site has no chunk".
        many: The same of several: "(13 pages) of the site have no chunk".
        measured: How it is measured, for readers. Thresholds are in ``validation/thresholds.py``.
        cause: The usual cause, one sentence.
        remedy: What to do, one sentence.
        breaks: Aspects that do not hold for its subjects.
        reads: Aspects of its subjects that it is measured by: it follows from what breaks them.
        fields: Canonical payload fields of field-level aspects in ``breaks`` and ``reads``; empty: those that each
            subject names.
        lowers: Criteria whose value its subjects lower: they break ``Aspect.VALUE`` of these.
        judged_by: Criteria that judge the same; if one is required, ``error_findings`` does not count it.
        error_share: Share of the index's points, 0..1, from which a warning becomes an error; None: never.
    """

    code: str
    severity: Severity
    level: Level
    group: str
    subject_kind: str
    action: Action
    title: str
    means: str
    many: str
    measured: str
    cause: str
    remedy: str
    breaks: Set[Aspect] = frozenset()
    reads: Set[Aspect] = frozenset()
    fields: tuple[str, ...] = ()
    lowers: tuple[str, ...] = ()
    judged_by: tuple[str, ...] = ()
    error_share: float | None = None

    @property
    def criteria(self) -> frozenset[str]:
        """The criteria that its subjects concern."""
        return frozenset((*self.lowers, *self.judged_by))

    @property
    def sentence(self) -> str:
        """The sentence about one subject: "A page of the site has no chunk."."""
        kind = {"url": "URL"}.get(self.subject_kind, self.subject_kind)
        return f"{'An' if kind[0] in 'aeio' else 'A'} {kind} {self.means}."

    def severity_of(self, count: int, points: int) -> Severity:
        """The severity of a finding that names ``count`` of the index's ``points`` points."""
        return "error" if self.error_share is not None and count >= self.error_share * points else self.severity


# fmt: off
_ROWS = (
    FindingType("source.unreachable", "error", "run", "coverage", "url", "setting",
        breaks={Aspect.PAGE},
        title="Site not reachable",
        means="does not answer with a 2xx status", many="do not answer with a 2xx status",
        measured="ragval requests the sitemap and repeats failed requests. After the last attempt the run ends "
            "with exit code 3.",
        cause="The host, the path or the network is wrong, or the site is down.",
        remedy="Open the URL from the machine that runs ragval and correct source or the network."),
    FindingType("source.malformed", "error", "run", "coverage", "url", "setting",
        breaks={Aspect.PAGE},
        title="Sitemap not readable",
        means="is not a readable sitemap", many="are not readable sitemaps",
        measured="The answer is parsed as a sitemap, a sitemap index or plain text with one URL per line. Document "
        "type declarations and entities are rejected.",
        cause="The response is an HTML page, is truncated, or contains something that a sitemap must not contain, "
        "such as URLs without a host.",
        remedy="Point source.sitemap at the sitemap itself and rebuild it if it is damaged."),
    FindingType("source.empty", "error", "run", "coverage", "url", "setting",
        breaks={Aspect.PAGE},
        title="Site without pages in scope",
        means="lists no page in scope", many="list no page in scope",
        measured="The listed pages that pass source.include and source.exclude are counted.",
        cause="No listed page passes source.include and source.exclude, or the list is empty.",
        remedy="Correct source.include and source.exclude, or rebuild the sitemap or list."),
    FindingType("source.scope", "info", "run", "coverage", "folder", "setting",
        title="Pages that the suite leaves out",
        means="of the site is left out by source.include or source.exclude",
        many="of the site are left out by source.include or source.exclude",
        measured="The listed pages that do not pass source.include and source.exclude are counted by folder. They are "
        "not expected in the index, and no criterion counts them.",
        cause="source.include or source.exclude does not match them.",
        remedy="If the assistant should answer from these pages, too, widen source.include or source.exclude."),
    FindingType("source.suspicious_lastmod", "info", "corpus", "coverage", "url", "site",
        title="Sitemap dates cannot be trusted",
        means="has lastmod dates that carry no information", many="have lastmod dates that carry no information",
        measured="The lastmod dates of all pages are compared with each other and with the time of the run. If more "
        "than half of the pages have one and all are equal, or all are in the future, no page is reported as stale "
        "based on its date.",
        cause="Every lastmod is the same, or in the future: the build writes its own time.",
        remedy="Configure the site generator to write the date on which each page last changed."),
    FindingType("source.page_unfit", "warning", "subject", "integrity", "page", "site",
        breaks={Aspect.PAGE, Aspect.LISTED},
        title="Site lists pages that it should not",
        means="of the site redirects, is noindex, is gone, or shows only what others show",
        many="of the site redirect, are noindex, are gone, or show only what others show",
        measured="Each page in scope is read. It is listed if the server redirects it to another page, responds "
        "that it is gone, if the page asks not to be indexed, or if it shows the same few words as pages with other "
        "names and nothing else. If most pages redirect to the same page, it is an error: none of them can be read.",
        cause="The sitemap or list has all that was built, or was not rebuilt after pages were moved or removed.",
        remedy="Remove the page from the sitemap or list, or exclude it with source.exclude; list the target of a "
        "redirect instead; restore the page if it should be there."),
    FindingType("coverage.missing_page", "error", "subject", "coverage", "page", "reingest",
        breaks={Aspect.PRESENCE, Aspect.TARGET}, reads={Aspect.FIELD, Aspect.PLACE, Aspect.LISTED},
        fields=("source_url",),
        lowers=("coverage", "source_captured", "self_retrieval"),
        title="Pages missing from the index",
        means="of the site has no chunk", many="of the site have no chunk",
        measured="The pages in scope of the site are compared with the pages of all points. Variants of a URL, "
        "such as with and without a trailing slash, count as the same page.",
        cause="The page was never ingested, its ingestion failed, or its points were deleted or overwritten by those "
        "of other pages with the same ids.",
        remedy="Re-ingest these URLs. If other pages are missing then, make point ids from the whole address and the "
        "chunk number.",
        judged_by=("coverage",)),
    FindingType("coverage.orphan_page", "warning", "subject", "coverage", "page", "delete",
        breaks={Aspect.FIELD}, reads={Aspect.FIELD, Aspect.LISTED}, fields=("source_url",),
        title="Indexed pages that are not on the site",
        means="is in the index but not in scope", many="are in the index but not in scope",
        measured="The pages of all points are compared with the pages of the site in scope. Those without a "
        "counterpart are listed.",
        cause="The page was removed from the site, or was ingested although it is out of scope.",
        remedy="Delete the points of these pages, or bring the pages into scope."),
    FindingType("coverage.foreign_host", "error", "corpus", "coverage", "host", "reingest",
        breaks={Aspect.FIELD, Aspect.ORIGIN}, fields=("source_url",),
        title="Index holds pages of another host",
        means="of the index is not the site's",
        many="of the index are not the site's",
        measured="The hosts of the stored URLs are compared with the host of the site. Another host is reported "
        "if it has pages that the site has under the same path, or if nothing is stored from the site's own host. A "
        "single page of an unrelated site is reported as an orphan instead.",
        cause="The collection was ingested from another deployment, or holds another site.",
        remedy="If the host serves the same site, add it to source.host_aliases. If several sites share the "
        "collection, exclude its points with qdrant.filter. Otherwise delete its points, listed under "
        "review_point_ids in remediation.json, and ingest the site's own pages, listed under reingest_urls."),
    FindingType("coverage.loopback_host", "error", "corpus", "coverage", "page", "reingest",
        breaks={Aspect.FIELD, Aspect.ORIGIN}, fields=("source_url",),
        title="Addresses that users cannot open",
        means="has a private address that users cannot open", many="have private addresses that users cannot open",
        measured="Stored URLs are checked for localhost and private network addresses.",
        cause="The site was ingested from a development server.",
        remedy="Re-ingest from the public host and delete the pages of the private one."),
    FindingType("coverage.url_variant", "warning", "subject", "coverage", "page", "delete",
        breaks={Aspect.FIELD, Aspect.ONCE, Aspect.POSITION}, fields=("source_url",),
        title="One page under several addresses",
        means="is also stored under another address", many="are also stored under other addresses",
        measured="Stored URLs that refer to the same page are grouped, and every page with more than one URL is "
        "listed. URLs that differ in case or fragment count only if the same chunk is stored under both.",
        cause="Links with http and https, or with and without a trailing slash, .html, www or a fragment, were "
        "ingested as different pages.",
        remedy="Normalise URLs before ingesting. For each page, keep one URL and delete the points of the others. "
        "If each URL holds a different part of the page, re-ingest the page first."),
    FindingType("coverage.stale_page", "warning", "subject", "coverage", "page", "reingest",
        breaks={Aspect.VERSION},
        title="Pages changed since they were embedded",
        means="changed after it was embedded", many="changed after they were embedded",
        measured="The page's lastmod date in the sitemap is compared with the time stored with its newest chunk. "
            "Without plausible dates nothing is reported.",
        cause="The page was edited and the index was not updated.",
        remedy="Re-ingest these URLs."),
    FindingType("payload.missing_field", "error", "subject", "metadata", "point", "reingest",
        breaks={Aspect.FIELD}, reads={Aspect.ORIGIN},
        lowers=("metadata_completeness",),
        title="Field missing",
        means="lacks a field that it needs", many="lack a field that they need",
        measured="Each point is checked for its text, for its page if the suite has a site, and for every field in "
        "payload.required. For a field in payload.fields that is not required but that at least 95 % of the points "
        "have, the points without it are a warning.",
        cause="The ingestion did not write this field for these points.",
        remedy="Make the ingestion write the field, then re-ingest the pages of these points.",
        judged_by=("metadata_completeness",)),
    FindingType("payload.empty_field", "error", "subject", "metadata", "point", "reingest",
        breaks={Aspect.FIELD}, reads={Aspect.ORIGIN},
        lowers=("metadata_completeness",),
        title="Field empty",
        means="has no value in a field that it needs", many="have no value in a field that they need",
        measured="The text and each required field are checked for a value: null, blanks, invisible characters and "
            "empty lists count as empty, 0 and false do not.",
        cause="The extraction found nothing for this field and stored it anyway.",
        remedy="Correct the extraction of the field, then re-ingest the pages of these points.",
        judged_by=("metadata_completeness",)),
    FindingType("payload.wrong_type", "error", "subject", "metadata", "point", "reingest",
        breaks={Aspect.FIELD},
        title="Field of the wrong type",
        means="has a field of the wrong type", many="have a field of the wrong type",
        measured="The type of each value is compared with the type that the field needs: text, number, list of "
        "headings.",
        cause="The ingestion wrote the value in a different type than readers expect.",
        remedy="Write the field in the correct type, then re-ingest the pages of these points."),
    FindingType("payload.invalid_value", "error", "subject", "metadata", "point", "reingest",
        breaks={Aspect.FIELD}, reads={Aspect.ORIGIN},
        title="Impossible value in a field",
        means="has a value that the field cannot have", many="have a value that the field cannot have",
        measured="Values are checked against what the field can contain: URLs, counts from 1, times that are not in "
        "the future. A title that is another page's, and names nothing of its own page, is a warning.",
        cause="The ingestion computed or parsed the value wrongly.",
        remedy="Correct the value at its source, then re-ingest the pages of these points."),
    FindingType("payload.unexpected_module", "warning", "subject", "metadata", "point", "reingest",
        breaks={Aspect.FIELD}, reads={Aspect.FIELD}, fields=("module",),
        title="Module unknown to the site",
        means="names a module that the site does not have", many="name a module that the site does not have",
        measured="The module of each point is compared with payload.modules, or with the folders in the site's URLs "
        "if the suite lists none. Folders with several points are ignored if none of these uses the folder as its "
        "module, and nothing is reported if modules are not named after folders at all.",
        cause="The module was renamed, misspelled, or derived wrongly from the URL.",
        remedy="Correct the module name, or list it in payload.modules."),
    FindingType("payload.constant_field", "warning", "corpus", "metadata", "field", "chunker",
        breaks={Aspect.FIELD, Aspect.VARIETY},
        title="Field is the same everywhere",
        means="has the same value in every point", many="have the same value in every point",
        measured="The distinct values of each field that should distinguish points are counted. Fields that may be "
        "the same everywhere, such as the model, are not checked.",
        cause="The ingestion derives the field wrongly: the field is meant to distinguish points.",
        remedy="Correct how the ingestion derives the field."),
    FindingType("payload.field_map", "error", "corpus", "metadata", "field", "setting",
        breaks={Aspect.FIELD, Aspect.ORIGIN},
        title="Field not found under its configured name",
        means="is not in the payload under the name the suite expects",
        many="are not in the payload under the names the suite expects",
        measured="If hardly any point has a required field, it is searched for under other names and in nested "
        "objects.",
        cause="The payload is nested or uses other names than the suite's field map.",
        remedy="Put the suggested names under payload.fields."),
    FindingType("payload.duplicate_id", "error", "subject", "metadata", "point", "delete",
        reads={Aspect.POSITION, Aspect.COPIES},
        title="Chunk id used twice",
        means="has a chunk id that another point has too", many="have a chunk id that another point has too",
        measured="Points are grouped by the id in their payload. Numbers that start again on every page are "
        "positions, not ids.",
        cause="Points were copied, or the ingestion makes ids that are not unique.",
        remedy="Make ids unique, review the points under review_point_ids in remediation.json, and delete the copies."),
    FindingType("payload.id_rule", "warning", "subject", "metadata", "point", "reingest",
        title="Id breaks the suite's rule",
        means="has an id that does not follow the suite's rule", many="have an id that does not follow the suite's "
            "rule",
        measured="The id of each point is computed by the rule of the profile and compared with the stored id.",
        cause="The id rule changed between ingestions, or the points come from elsewhere.",
        remedy="Re-ingest the pages of these points with the id rule. Then delete these points: "
        "delete_after_ingesting in remediation.json lists them."),
    FindingType("payload.flat_headings", "info", "corpus", "metadata", "field", "chunker",
        title="Heading paths stop at the first level",
        means="never goes below the first level", many="never go below the first level",
        measured="The stored heading path of each chunk is compared with the headings of its page. The field is "
        "reported if nearly all pages with deeper headings store only the first level.",
        cause="The chunker loses the sections that a chunk belongs to.",
        remedy="Store the whole heading path of each chunk."),
    FindingType("chunk.index_gap", "error", "subject", "chunks", "page", "reingest",
        breaks={Aspect.PRESENCE}, reads={Aspect.FIELD, Aspect.PLACE, Aspect.OWN, Aspect.CURRENT},
        fields=("source_url", "chunk_index"),
        title="Pages with missing chunks",
        means="lacks some of its chunks", many="lack some of their chunks",
        measured="The chunk numbers of each page are checked for gaps between 0 and the highest number.",
        cause="Points were deleted or overwritten by others with the same id, or the ingestion stopped or skipped "
        "while writing the page.",
        remedy="Re-ingest these URLs. If the same gaps come back, the ingestion drops chunks after numbering them: "
        "number them last, or change the severity of chunk.index_gap. If other gaps appear, points overwrite each "
        "other: make ids from the whole address and the chunk number."),
    FindingType("chunk.duplicate_index", "error", "subject", "chunks", "point", "delete",
        breaks={Aspect.POSITION, Aspect.LATEST}, reads={Aspect.FIELD, Aspect.PLACE, Aspect.POSITION, Aspect.CURRENT},
        fields=("source_url", "chunk_index"),
        title="Chunk number used twice on a page",
        means="has the same page and chunk number as another point",
        many="have the same page and chunk number as another point",
        measured="Points are grouped by page, parent and chunk number. If the page has the text of one point of a "
        "group but not of another, the other is surplus; otherwise the stored embedding times, if any, decide which "
        "point is the newest. Points with different parts of their page are not copies: only their numbers are "
        "wrong. If that is true of all points, the severity is warning.",
        cause="The page was ingested again under new ids without deleting the old points.",
        remedy="Delete the points under delete_point_ids in remediation.json. For those under review_point_ids it "
        "is not known which is older: decide which to keep. Derive ids from URL and index."),
    FindingType("chunk.stale_tail", "warning", "subject", "chunks", "point", "delete",
        breaks={Aspect.CURRENT}, reads={Aspect.ONCE, Aspect.LETTERS},
        title="Leftovers of older page versions",
        means="is left from a longer, older version of its page",
        many="are left from longer, older versions of their pages",
        measured="The last chunks of a page are reported if they were embedded before all chunks in front of them "
        "and their text is no longer on the page. Without embedding times the page alone decides: the chunks before "
        "them include its end, and they are gone from it or go back on it. Texts from other pages are reported as "
        "integrity.gone instead.",
        cause="The page became shorter, or was split into fewer chunks, and the last old points were not deleted.",
        remedy="Delete these points. In future, delete a page's points before re-ingesting it."),
    FindingType("chunk.ingested_twice", "error", "subject", "chunks", "page", "delete",
        breaks={Aspect.ONCE, Aspect.COPIES, Aspect.POSITION, Aspect.CURRENT}, reads={Aspect.FIELD, Aspect.ONCE},
        fields=("source_url",),
        title="Pages stored more than once",
        means="is stored more than once, by different ingestions",
        many="are stored more than once, by different ingestions",
        measured="Each chunk is located on its page. A page was ingested twice if most of its text is covered twice "
        "and either two chunks start at its beginning and two end at its end, or many chunks lie within others. "
        "Normal overlap between neighbouring chunks does not count, nor does text that the page itself repeats, nor "
        "chunks within their parent chunk.",
        cause="The page was ingested again, with different chunks or new ids, and its old points were not deleted.",
        remedy="Delete the older points and the copies under delete_point_ids in remediation.json; one point of "
        "each text remains. For those under review_point_ids it is not known which are older: decide which to keep. "
        "If chunks of several sizes are stored on purpose, delete none: map payload.fields.parent_id, or select one "
        "size with qdrant.filter."),
    FindingType("chunk.order_shuffled", "warning", "subject", "chunks", "page", "reingest",
        reads={Aspect.FIELD, Aspect.POSITION, Aspect.CURRENT}, fields=("source_url", "chunk_index"),
        title="Chunk numbers out of page order",
        means="has chunk numbers that do not follow its order",
        many="have chunk numbers that do not follow their order",
        measured="Each chunk is located on its page, and its position is compared with its chunk number.",
        cause="The chunks were numbered in another order: by parallel workers, from a set, or sorted by text.",
        remedy="Number the chunks of a page in page order and re-ingest these URLs. Delete old points that this "
        "leaves."),
    FindingType("chunk.duplicate_text", "warning", "subject", "chunks", "point", "delete",
        breaks={Aspect.COPIES},
        reads={
            Aspect.FIELD, Aspect.PAGE, Aspect.PLACE, Aspect.POSITION, Aspect.CURRENT, Aspect.CUT, Aspect.LETTERS,
        },
        fields=("source_url", "text"),
        title="Same text stored several times",
        means="has the same text as another point", many="have the same text as another point",
        measured="Points are grouped by their text, ignoring differences in whitespace and invisible characters. A "
        "point is listed if it has no position of its own on the page: the text is not on its page, the page was "
        "not read, or the text is stored for the page more often than it occurs there.",
        cause="The same passage was stored several times.",
        remedy="Keep one of several copies on a page and delete the others, listed under delete_point_ids in "
        "remediation.json. Review copies on several pages yourself. Remove duplicates before embedding.",
        error_share=0.5),
    FindingType("chunk.near_duplicate", "info", "subject", "chunks", "point", "site",
        breaks={Aspect.COPIES},
        title="Nearly the same text on another page",
        means="has nearly the same text as a point of another page",
        many="have nearly the same text as a point of another page",
        measured="Texts of different pages are compared by the share of three-word sequences they have in common "
        "(Jaccard similarity). MinHash finds candidates; each pair is then compared exactly.",
        cause="Pages repeat each other, or two versions of a page are indexed.",
        remedy="Keep one of the pages, or accept that they compete for the same ranks."),
    FindingType("chunk.over_model_limit", "warning", "subject", "chunks", "point", "chunker",
        breaks={Aspect.LENGTH}, reads={Aspect.LENGTH, Aspect.LETTERS},
        title="Chunks longer than the model reads",
        means="has more tokens than the embedding model reads", many="have more tokens than the embedding model reads",
        measured="The tokens of each text are counted with the model's own tokenizer if ragval has it, otherwise "
        "with the stored counts or a cautious estimate, and compared with the model's limit. The model is the one "
        "named in the payload, otherwise the one in the suite.",
        cause="The chunker makes chunks longer than the model's input limit. Text beyond the limit is not searchable.",
        remedy="Make chunks shorter than the model's limit and re-ingest.",
        error_share=0.5),
    FindingType("chunk.too_small", "info", "subject", "chunks", "point", "chunker",
        breaks={Aspect.CUT}, reads={Aspect.LETTERS},
        title="Chunks too short to answer anything",
        means="is too short to answer anything", many="are too short to answer anything",
        measured="The letters and digits of each chunk are counted, without lines that only repeat its headings.",
        cause="The chunker stores titles or leftovers as separate chunks.",
        remedy="Merge short chunks with their neighbours."),
    FindingType("chunk.token_count_off", "warning", "subject", "chunks", "point", "chunker",
        reads={Aspect.FIELD, Aspect.TEXT, Aspect.CUT, Aspect.KEPT, Aspect.LETTERS}, fields=("text", "token_count"),
        title="Stored token counts are wrong",
        means="has a token count that is far off", many="have a token count that is far off",
        measured="Stored token counts are compared with a recount. Tokenizers differ, so each count is compared "
        "with how the other texts of this collection are counted.",
        cause="The count was estimated, or computed with another tokenizer.",
        remedy="Count tokens with the embedding model's own tokenizer."),
    FindingType("chunk.one_per_page", "warning", "corpus", "chunks", "page", "chunker",
        breaks={Aspect.LENGTH, Aspect.SPLIT},
        title="Long pages stored as one chunk",
        means="is longer than the model's limit but stored as one chunk",
        many="are longer than the model's limit but stored as one chunk each",
        measured="Pages whose only chunk is longer than the model's limit are counted. They are reported if there "
        "are at least two and they are at least half of all pages longer than the limit.",
        cause="The chunker does not split.",
        remedy="Split pages into chunks below the model's limit and re-ingest."),
    FindingType("text.zero_width", "warning", "subject", "chunks", "point", "chunker",
        reads={Aspect.FIELD, Aspect.LETTERS},
        title="Invisible characters in texts",
        means="contains zero-width or control characters", many="contain zero-width or control characters",
        measured="Texts and headings are searched for invisible characters, such as U+200B.",
        cause="The extraction kept invisible characters, for example from heading anchors.",
        remedy="Remove them before embedding and re-ingest."),
    FindingType("text.mojibake", "warning", "subject", "chunks", "point", "reingest",
        breaks={Aspect.LETTERS},
        lowers=("content_integrity",),
        title="Garbled characters in texts",
        means="contains garbled characters", many="contain garbled characters",
        measured="Texts are searched for traces of wrong decoding, such as “Ã©” for “é”. Comparison with the page "
        "finds words that became question marks, words in a wrong character set, and characters left escaped as in "
        "HTML or JSON. Anything that is on the page itself is ignored.",
        cause="UTF-8 was read as Latin-1 or Windows-1252, or the text was left encoded or escaped.",
        remedy="Decode pages with the character set that the server declares, and re-ingest.",
        error_share=0.5),
    FindingType("text.glued_words", "warning", "subject", "integrity", "point", "chunker",
        breaks={Aspect.WORDS},
        title="Words glued together",
        means="joins words that the page separates", many="join words that the page separates",
        measured="Words in a chunk that are two words on its page are counted.",
        cause="The extraction joins HTML elements without a separator, or the chunker removes tabs and no-break "
        "spaces, as LangChain's MarkdownHeaderTextSplitter does.",
        remedy="Join block elements with a line break, replace tabs and no-break spaces by spaces before chunking, and "
        "re-ingest.",
        error_share=0.5),
    FindingType("text.markup", "warning", "subject", "chunks", "point", "chunker",
        breaks={Aspect.FRAME, Aspect.LETTERS},
        title="Markup in the texts",
        means="contains markup that its page does not show", many="contain markup that their pages do not show",
        measured="Tags with their attributes, comments, entities, scripts, styles and template code in a chunk are "
        "searched for in what its page shows: HTML that a page shows as code is text. A point counts with template "
        "code, with three other pieces, or with 40 letters in them. Chunks that are mostly not on their page, or whose "
        "page could not be read, are not judged.",
        cause="The source of the pages was stored instead of their text.",
        remedy="Extract the text from the HTML, or render templates, before chunking, and re-ingest.",
        error_share=0.5),
    FindingType("text.boilerplate", "warning", "corpus", "chunks", "point", "chunker",
        breaks={Aspect.FRAME, Aspect.DISTINCTION},
        lowers=("content_integrity",),
        title="Navigation or footer in the texts",
        means="contains navigation, footer or other text around the page's content",
        many="contain navigation, footer or other text around the page's content",
        measured="Three kinds of evidence count: phrases typical of documentation themes, such as “Edit this page”, "
        "on several pages, or on any page with other words that its content does not have; phrases that begin or end "
        "the chunks of many pages but are not in the content of these pages; and chunks of several pages that begin or "
        "end alike and come mostly from outside the content of their page. Headings, and source lines that the "
        "ingestion adds to each chunk, never count.",
        cause="Navigation, cookie or footer text was embedded with the content.",
        remedy="Extract the main content element only and re-ingest.",
        error_share=0.5),
    FindingType("text.hash_mismatch", "error", "subject", "chunks", "point", "reingest",
        breaks={Aspect.TEXT, Aspect.OWN}, reads={Aspect.FIELD}, fields=("text_hash", "text"),
        title="Text changed after it was hashed",
        means="has a text that does not match its stored hash", many="have a text that does not match its stored hash",
        measured="The stored hash is compared with hashes of the text in several forms. Points are judged only if "
        "a large share of all hashes can be reproduced.",
        cause="The text was changed after it was hashed and embedded.",
        remedy="Re-ingest the pages of these points."),
    FindingType("integrity.drifted", "error", "subject", "integrity", "point", "reingest",
        breaks={Aspect.TEXT},
        reads={
            Aspect.VARIETY, Aspect.CURRENT, Aspect.LATEST, Aspect.VERSION, Aspect.LETTERS, Aspect.FRAME, Aspect.TEXT,
        },
        fields=("source_url",),
        lowers=("content_integrity",),
        title="Texts that differ from their page",
        means="differs from its page", many="differ from their pages",
        measured="Each chunk is aligned with its page. It differs if the page has another word or number somewhere "
        "between two of its pieces, if it lacks words within a line of the page or letters within a word, or if too "
        "many of its letters are not on the page. What it leaves out between lines is no difference.",
        cause="The page was edited after ingestion, or the extraction changes text.",
        remedy="Re-ingest the pages that have changed. If a page has not changed, correct the extraction first, "
        "because re-ingesting alone stores the same text again."),
    FindingType("integrity.gone", "error", "subject", "integrity", "point", "reingest",
        breaks={Aspect.TEXT, Aspect.OWN, Aspect.PLACE, Aspect.TARGET},
        reads={
            Aspect.VARIETY, Aspect.CURRENT, Aspect.VERSION, Aspect.OWN, Aspect.LETTERS, Aspect.FRAME, Aspect.CUT,
        },
        fields=("source_url",),
        lowers=("content_integrity",),
        title="Texts that are not on their page",
        means="has a text that is not on its page", many="have a text that is not on their page",
        measured="Each chunk is aligned with its page. It is reported if less than half of it is found there.",
        cause="The passage was removed from the page, belongs to another page, or was never visible: some "
        "extractors treat comments, scripts or the data of pictures in the source as text.",
        remedy="Re-ingest the pages under reingest_urls in remediation.json: those that the points are stored "
        "under, and those that the texts come from. Delete old points that this leaves. If a page has not changed, "
        "correct the extraction first, because re-ingesting alone stores the same text again. Exclude generated "
        "summaries and questions with qdrant.filter."),
    FindingType("integrity.not_captured", "error", "subject", "integrity", "page", "reingest",
        breaks={Aspect.KEPT},
        reads={
            Aspect.FIELD, Aspect.PRESENCE, Aspect.PLACE, Aspect.VERSION, Aspect.HEADINGS, Aspect.TEXT, Aspect.CUT,
            Aspect.LETTERS,
        },
        fields=("source_url", "text"),
        lowers=("source_captured",),
        title="Page content missing from the chunks",
        means="has passages that are in none of its chunks", many="have passages that are in none of their chunks",
        measured="Each passage of the page's content is searched for in the chunks of that page. Menus, footers and "
        "very short blocks do not count as content, but consecutive short rows, items and pieces of code are counted "
        "together, and a page is also reported if less than two thirds of its text is in its chunks.",
        cause="The page was edited after ingestion, or the extraction or the chunker drops parts of it.",
        remedy="Re-ingest the pages that have changed. If a page has not changed, correct the extraction or the "
        "chunker first, because re-ingesting alone loses the same passages again. If the content is left out on "
        "purpose, change the severity of integrity.not_captured."),
    FindingType("integrity.heading_loss", "warning", "subject", "integrity", "page", "chunker",
        breaks={Aspect.HEADINGS},
        reads={
            Aspect.FIELD, Aspect.PRESENCE, Aspect.PLACE, Aspect.VERSION, Aspect.TEXT, Aspect.CUT, Aspect.LETTERS,
        },
        fields=("source_url", "text", "headings", "title"),
        title="Headings missing from the chunks",
        means="has headings that are in none of its chunks", many="have headings that are in none of their chunks",
        measured="Each heading of the page is searched for in the texts of its chunks, in their heading paths, and in "
        "other short texts of their payload.",
        cause="The page was edited after ingestion, or the extraction removes headings.",
        remedy="Re-ingest the pages that have changed. If a page has not changed, keep its headings in the text or in "
        "the heading path first."),
    FindingType("integrity.page_unreadable", "warning", "subject", "integrity", "page", "site",
        breaks={Aspect.PAGE, Aspect.TEXT}, reads={Aspect.PAGE},
        title="Pages that could not be read",
        means="could not be read, or shows no text without a browser",
        many="could not be read, or show no text without a browser",
        measured="Each page in scope, and each page that chunks come from, is read. Pages that do not respond, or "
        "have almost no text without JavaScript, are listed, and their chunks are not compared.",
        cause="The page is gone, refuses access, builds its text in the browser, or shows a login or consent wall "
        "instead of its text.",
        remedy="Make the page readable without a browser, a login or consent; exclude it if it is gone."),
    FindingType("vector.zero", "error", "subject", "vectors", "point", "reingest",
        breaks={Aspect.VECTOR, Aspect.SPACE}, reads={Aspect.FIELD}, fields=("text",),
        lowers=("embedding_match",),
        title="Vectors of zeros",
        means="has a vector of zeros", many="have a vector of zeros",
        measured="The length of every stored vector is computed.",
        cause="The embedding failed and zeros were stored instead.",
        remedy="Re-embed these points."),
    FindingType("vector.missing", "error", "subject", "vectors", "point", "reingest",
        breaks={Aspect.VECTOR, Aspect.SPACE}, reads={Aspect.FIELD}, fields=("text",),
        lowers=("embedding_match",),
        title="Vectors missing",
        means="has no vector under the name that searches use", many="have no vector under the name that searches use",
        measured="Every point is checked for a vector under qdrant.vector_name.",
        cause="The point was written without this vector.",
        remedy="Re-embed these points, or correct qdrant.vector_name."),
    FindingType("vector.identical", "warning", "subject", "vectors", "point", "reingest",
        breaks={Aspect.VECTOR, Aspect.SPACE}, reads={Aspect.TEXT, Aspect.MODEL},
        lowers=("embedding_match",),
        title="Same vector for different texts",
        means="has the same vector as a point with another text",
        many="have the same vector as a point with another text",
        measured="Points with the same vector are grouped, and groups with different texts are listed.",
        cause="Vectors were written to the wrong points or reused.",
        remedy="Re-embed these points."),
    FindingType("vector.dimension", "error", "run", "vectors", "collection", "setting",
        breaks={Aspect.SPACE, Aspect.MODEL},
        title="Collection and embedder do not fit",
        means="and the embedder differ in dimension or distance",
        many="and the embedder differ in dimension or distance",
        measured="The collection's dimension and distance are compared with the embedder's.",
        cause="The collection was created with a different model than the one in the suite.",
        remedy="Set embedding.model to the model of the collection, or re-embed the collection."),
    FindingType("vector.model_mismatch", "error", "corpus", "vectors", "collection", "setting",
        breaks={Aspect.SPACE, Aspect.MODEL},
        lowers=("embedding_match",),
        title="Index embedded in another way",
        means="holds vectors that re-embedding its texts does not reproduce",
        many="hold vectors that re-embedding their texts does not reproduce",
        measured="Stored texts are embedded again and compared with the stored vectors. The collection is reported "
        "if it disagrees as a whole, even after other input types and truncated texts were tried.",
        cause="The collection was embedded with another model, input type or preprocessing.",
        remedy="Embed queries exactly as the collection was embedded, or re-embed the collection."),
    FindingType("vector.mixed_models", "error", "corpus", "vectors", "point", "reingest",
        breaks={Aspect.VECTOR, Aspect.SPACE, Aspect.MODEL},
        lowers=("embedding_match",),
        title="Index embedded in two ways",
        means="was embedded differently from the rest", many="were embedded differently from the rest",
        measured="Stored texts are embedded again. A group of points that disagrees as a whole, while the rest "
            "agrees, was made with another model, or with an input type or preprocessing that was tried and fits it.",
        cause="The model, or the text that is embedded, was changed and only new points were embedded that way.",
        remedy="Re-embed these points in the same way as the rest."),
    FindingType("vector.text_mismatch", "error", "subject", "vectors", "point", "reingest",
        breaks={Aspect.VECTOR, Aspect.SPACE},
        reads={Aspect.FIELD, Aspect.VECTOR, Aspect.TEXT, Aspect.MODEL, Aspect.KEPT},
        lowers=("embedding_match",),
        title="Vectors that do not fit their text",
        means="has a vector that does not fit its text", many="have a vector that does not fit their text",
        measured="Stored texts are embedded again, and the cosine between the stored and the new vector is "
        "computed. Vectors that are missing, zero, swapped, or from another model are reported under their own "
        "codes instead.",
        cause="The text was changed and not embedded again, or the vector was damaged.",
        remedy="Re-embed these points."),
    FindingType("vector.swapped", "error", "subject", "vectors", "point", "reingest",
        breaks={Aspect.VECTOR, Aspect.SPACE}, reads={Aspect.OWN},
        lowers=("embedding_match",),
        title="Vectors swapped between texts",
        means="has a vector that belongs to another text", many="have a vector that belongs to another text",
        measured="A vector that does not fit its own text is compared with the other texts. It is listed if it fits "
        "one of them.",
        cause="Vectors and payloads got out of step when they were written.",
        remedy="Re-embed these points."),
    FindingType("sparse.missing", "error", "subject", "vectors", "point", "reingest",
        reads={Aspect.FIELD}, fields=("text",),
        title="Sparse vectors missing",
        means="has no sparse vector, so that keyword search cannot find it",
        many="have no sparse vector, so that keyword search cannot find them",
        measured="The sparse vectors of all points are read: those under retrieval.sparse.vector_name, else every "
        "one of the collection. A point is listed if it has none of them, or only empty ones, although its text has "
        "words.",
        cause="The point was written before hybrid search was switched on, or by another writer.",
        remedy="Ingest these points again with their sparse vectors."),
    FindingType("sparse.text_mismatch", "error", "subject", "vectors", "point", "reingest",
        reads={Aspect.FIELD, Aspect.TEXT, Aspect.KEPT}, fields=("text",),
        title="Sparse vectors that do not fit their text",
        means="has a sparse vector that does not fit its text",
        many="have a sparse vector that does not fit their text",
        measured="The sparse vectors of the stored texts are computed again, and the cosine and the lengths are "
        "compared: with the function in retrieval.sparse.model, or with fastembed's BM25 if the numbers are those of "
        "BM25 and fastembed is installed. Its language is found out, and words that most vectors of texts "
        "with them lack count as stop words.",
        cause="The text was changed and its sparse vector was not computed again, or the vectors of points got out of "
        "step.",
        remedy="Compute the sparse vectors of these points again."),
    FindingType("index.unreachable", "error", "run", "index", "system", "setting",
        title="Index not reachable",
        means="does not answer", many="do not answer",
        measured="ragval calls Qdrant, or the search that retrieval.retriever names, and repeats failed calls. After "
            "the last attempt the run ends with exit code 3.",
        cause="The server is down, the address is wrong, or the key is refused.",
        remedy="Check qdrant.url, qdrant.api_key and the network."),
    FindingType("index.collection_missing", "error", "run", "index", "collection", "setting",
        title="Collection does not exist",
        means="does not exist", many="do not exist",
        measured="Qdrant is queried for the collection or alias in qdrant.collection.",
        cause="The name is wrong, or nothing was ingested yet.",
        remedy="Correct qdrant.collection, or ingest first."),
    FindingType("index.empty", "error", "run", "index", "collection", "reingest",
        title="Collection is empty",
        means="holds no points", many="hold no points",
        measured="The points that pass qdrant.filter are counted.",
        cause="The ingestion wrote nothing, wrote elsewhere, or the filter matches nothing.",
        remedy="Run the ingestion, or correct qdrant.collection and qdrant.filter."),
    FindingType("index.not_ready", "warning", "run", "index", "collection", "setting",
        title="Collection not ready",
        means="is not ready to serve", many="are not ready to serve",
        measured="The status that Qdrant reports for the collection is read: its colour, the optimiser, and vectors "
        "that are not indexed yet. An embedded Qdrant has none of these.",
        cause="The optimiser is still running or failed, or points are hidden from search.",
        remedy="Wait until the status is green, or look at the optimiser's error."),
    FindingType("index.payload_index_missing", "warning", "run", "index", "field", "setting",
        title="Payload index missing",
        means="is filtered on but has no payload index", many="are filtered on but have no payload index",
        measured="The fields of qdrant.filter are compared with the collection's payload indexes.",
        cause="The index was never created.",
        remedy="Create a payload index for the field."),
    FindingType("index.no_tenant_index", "warning", "run", "index", "field", "setting",
        title="No index for tenants",
        means="tells tenants apart and has no index for tenants",
        many="tell tenants apart and have no index for tenants",
        measured="The field of qdrant.partition_by is compared with the collection's payload indexes and, on a server "
        "that knows them, with those for tenants (is_tenant). A field of qdrant.filter is index.payload_index_missing.",
        cause="The index was never created, or not as one for tenants.",
        remedy="Create a keyword index with is_tenant for the field: points of a tenant are then stored together."),
    FindingType("index.no_idf", "warning", "run", "vectors", "vector", "setting",
        title="Keyword search without word rarity",
        means="holds weights of BM25, and the collection does not weight them by how rare a word is",
        many="hold weights of BM25, and the collection does not weight them by how rare a word is",
        measured="The numbers of sparse vectors show whether they are BM25's, or retrieval.sparse.model says so. BM25 "
        "leaves the rarity of words (IDF) to Qdrant, which applies it if the sparse vector has the modifier idf.",
        cause="The sparse vector was created without the modifier idf: common words count as much as rare ones.",
        remedy="Set the modifier idf on this sparse vector with an update of the collection; no point changes."),
    FindingType("index.low_ann_recall", "warning", "run", "index", "collection", "setting",
        breaks={Aspect.SEARCH}, reads={Aspect.STABLE},
        lowers=("ann_recall",),
        title="Approximate search misses hits",
        means="returns different hits from an exact search", many="return different hits from an exact search",
        measured="Queries and stored vectors are searched twice, with the default search and exactly, and the hits "
        "are compared.",
        cause="The HNSW parameters used for building or searching are too small.",
        remedy="Raise hnsw_ef, or rebuild the index with larger m and ef_construct."),
    FindingType("index.changed_during_read", "warning", "run", "index", "point", "setting",
        title="Index changed during the run",
        means="changed while the index was validated", many="changed while the index was validated",
        measured="At the end of the run every point is read again: its payload, as far as the run has read it, and its "
        "vector are compared with the first reading, vectors up to rounding. Points are counted before and after "
        "reading, too.",
        cause="An ingestion was running.",
        remedy="Validate after the ingestion has finished."),
    FindingType("query.failed", "error", "subject", "queries", "query", "query",
        breaks={Aspect.ANSWER},
        reads=OF_TEXTS | OF_VECTORS | {
            Aspect.FIELD, Aspect.PRESENCE, Aspect.POSITION, Aspect.COPIES, Aspect.CURRENT, Aspect.DISTINCTION,
            Aspect.TARGET, Aspect.RANK, Aspect.PLACES, Aspect.REACH,
        },
        lowers=("critical_queries", "relevance_rate", "accuracy", "avg_similarity", "keyword_recall"),
        title="Test questions not answered",
        means="is not answered as expected", many="are not answered as expected",
        measured="Each test query is run, and each of its expectations is checked against the hits. The query fails "
        "if one expectation is not met.",
        cause="The index does not return what the query expects.",
        remedy="Look at the first hit of each question. If it answers the question, correct the expectation; "
        "otherwise correct the chunks of the expected page.",
        judged_by=("query_pass_rate",)),
    FindingType("query.negative_scored_high", "error", "subject", "queries", "query", "query",
        breaks={Aspect.ANSWER}, reads=OF_TEXTS | OF_VECTORS | {Aspect.DISTINCTION, Aspect.SELECTION},
        lowers=("critical_queries",),
        title="Off-topic questions score too high",
        means="is off topic but scores above its limit", many="are off topic but score above their limit",
        measured="Each off-topic query is run, and its best score is compared with its limit.",
        cause="The limit is too low for this embedder, or the index does contain text about the topic.",
        remedy="Raise min_similarity for the query, or look at the hits.",
        judged_by=("query_pass_rate", "negative_pass_rate")),
    FindingType("query.dead_target", "error", "subject", "queries", "query", "query",
        breaks={Aspect.TARGET}, reads={Aspect.FIELD, Aspect.PRESENCE},
        title="Questions that expect what does not exist",
        means="expects a page, module, chapter or point that does not exist",
        many="expect a page, module, chapter or point that does not exist",
        measured="The pages, modules and chapters that queries expect are looked up in the sitemap and in the index, "
        "and point ids in the index.",
        cause="The expectation is misspelled, or the page was renamed.",
        remedy="Correct the expectation."),
    FindingType("query.unmatched_judgements", "warning", "run", "queries", "judgement", "query",
        reads={Aspect.FIELD, Aspect.PRESENCE},
        title="Ground truth that matches nothing",
        means="is in the qrels but in no query file or index", many="are in the qrels but in no query file or index",
        measured="The ids of the ground truth are looked up among the queries and in the index.",
        cause="The qrels belong to other topics or documents, or the ids are written differently.",
        remedy="Use the qrels of these topics and this collection, or correct the ids."),
    FindingType("query.weak_oracle", "warning", "subject", "queries", "query", "query",
        reads={Aspect.SPLIT, Aspect.ONCE, Aspect.PRESENCE},
        title="Questions that almost any answer passes",
        means="would pass with random hits in at least half of all cases",
        many="would pass with random hits in at least half of all cases",
        measured="The probability that hits drawn at random from this index pass the query is computed. Where a score "
        "is judged, only the query's own hits are known to reach it, and any other chunk counts as one that does not.",
        cause="Too many chunks match the expected words, module or pages for this top_k.",
        remedy="Expect something that only the right chunks contain."),
    FindingType("query.duplicate", "warning", "subject", "queries", "query", "query",
        breaks={Aspect.SELECTION, Aspect.TARGET},
        title="Repeated test questions",
        means="is in the test set more than once", many="are in the test set more than once",
        measured="Queries are grouped by their text, with case and accents folded. If one of a group passes, another "
        "that expects something else fails because of that.",
        cause="The query was copied, or two people expect different results for it.",
        remedy="Keep one of each, and resolve contradictory expectations."),
    FindingType("query.unreachable_gate", "warning", "run", "queries", "metric", "setting",
        title="Gates that cannot be reached",
        means="has a gate above, or just below, the best value that the ground truth allows",
        many="have a gate above, or just below, the best value that the ground truth allows",
        measured="The best value that a perfect ranking could reach with this ground truth is computed and "
            "compared with the gate.",
        cause="There are fewer relevant pages than ranks in the top k.",
        remedy="Gate on recall or on a smaller k, or list all relevant pages."),
    FindingType("query.no_coverage", "info", "run", "queries", "module", "query",
        title="Modules without a test question",
        means="has no test question about it", many="have no test question about them",
        measured="Modules of the index are listed if no test query names them or has a relevant page in them.",
        cause="The test set does not cover the site.",
        remedy="Add queries about these modules."),
    FindingType("query.threshold_unfit", "warning", "run", "queries", "setting", "setting",
        breaks={Aspect.REACH, Aspect.SELECTION}, reads={Aspect.SPACE},
        title="Threshold does not fit the embedder",
        means="does not separate right from wrong hits with this embedder",
        many="do not separate right from wrong hits with this embedder",
        measured="The scores of right hits are compared with those of wrong hits, and the threshold is compared "
        "with both: the suite's, that of most queries, and one that most of at least 5 queries stating it miss.",
        cause="The threshold was taken from another model.",
        remedy="Calibrate the threshold on this index."),
    FindingType("retrieval.lexical_better", "warning", "corpus", "queries", "query", "setting",
        reads={Aspect.ANSWER},
        title="Keyword search answers more questions",
        means="is answered by plain BM25 and not by your search",
        many="are answered by plain BM25 and not by your search",
        measured="BM25 is computed in memory over the stored texts and asked the same questions. A question is "
        "answered if every condition holds that it states, but for its score. The finding is reported if BM25 answers "
        "significantly more of them (paired permutation test), or at least three that the judged search does not.",
        cause="The questions contain names, codes or identifiers that the embedding model does not tell apart.",
        remedy="Add a sparse vector and search both ways (hybrid), or choose a model that knows these words."),
    FindingType("retrieval.crowded_top_k", "warning", "subject", "queries", "query", "chunker",
        reads=OF_VECTORS | {
            Aspect.POSITION, Aspect.COPIES, Aspect.CURRENT, Aspect.TEXT, Aspect.CUT, Aspect.LETTERS,
            Aspect.WORDS, Aspect.DISTINCTION,
        },
        title="One page fills the results",
        means="gets results dominated by one page or by near-duplicates",
        many="get results dominated by one page or by near-duplicates",
        measured="The hits of each query are grouped by page and by nearly identical text. A hit that mostly has what "
        "better hits of its page have repeats them.",
        cause="Chunks overlap too much, or a page is stored several times.",
        remedy="Remove duplicates, or group hits by page."),
    FindingType("retrieval.hub_chunk", "warning", "corpus", "queries", "point", "chunker",
        breaks={Aspect.PLACES},
        reads=OF_TEXTS | OF_VECTORS | {Aspect.VARIETY, Aspect.CURRENT, Aspect.COPIES, Aspect.DISTINCTION},
        fields=("title",),
        title="Chunks that appear in too many results",
        means="appears in the results of far too many unrelated queries", many="appear in the results of far too "
            "many unrelated queries",
        measured="Every page is searched for by its title, headings and words. A chunk is listed if it is among the "
        "hits of far more queries about other pages than expected by chance, and these queries have few words in "
        "common. This is information only if every vector of the index was compared with its text and fits.",
        cause="The chunk is generic text, such as a licence or a table of contents, its vector belongs to another "
        "text, or the embedding model places it close to everything.",
        remedy="Read the chunk. Leave generic text out of the index; re-embed the chunk if its vector belongs to "
        "another text."),
    FindingType("retrieval.dark_page", "warning", "subject", "queries", "page", "reingest",
        breaks={Aspect.RANK},
        reads=OF_TEXTS | OF_VECTORS | {
            Aspect.VARIETY, Aspect.POSITION, Aspect.COPIES, Aspect.CURRENT, Aspect.DISTINCTION,
        },
        fields=("title",),
        lowers=("self_retrieval",),
        title="Pages that searches do not find",
        means="is not found by its own title, headings and words",
        many="are not found by their own titles, headings and words",
        measured="Every page is searched for by its title, its headings and words that hardly any other page has. "
        "It is listed if none of these queries finds it. Titles shared by several pages are not used.",
        cause="Its vectors are wrong, its chunks contain other text, or the embedding model ranks other pages higher.",
        remedy="Look at the chunks of these pages, and re-ingest those with a wrong text or vector. If both are "
        "right, put the page's title and headings in front of each chunk before embedding."),
    FindingType("retrieval.nondeterministic", "warning", "run", "queries", "query", "setting",
        breaks={Aspect.STABLE},
        lowers=("determinism",),
        title="Search results are not reproducible",
        means="gets different ids, order or scores when repeated",
        many="get different ids, order or scores when repeated",
        measured="Each query is run several times (retrieval.repeats), and the ids, order and scores of the hits "
        "are compared.",
        cause="Search is approximate, the index is changing, or several points have the same score.",
        remedy="Use exact search, or wait until the index no longer changes."),
    FindingType("retrieval.slow", "warning", "run", "latency", "metric", "setting",
        lowers=("latency_p95_ms",),
        title="Search too slow",
        means="is over its latency budget", many="are over their latency budget",
        measured="Single, warm embedding and search calls are timed, and their 95th percentile is compared with the "
        "budget in latency_p95_ms.",
        cause="The server, the network or the embedder is slow.",
        remedy="Check embedding and search separately."),
    FindingType("retrieval.incomplete_metadata", "error", "subject", "queries", "point", "reingest",
        reads={Aspect.FIELD},
        lowers=("retrieved_metadata_completeness",),
        title="Hits with incomplete metadata",
        means="was returned for a query but lacks required fields",
        many="were returned for queries but lack required fields",
        measured="The hits of all queries are checked for the required fields.",
        cause="The ingestion did not write these fields.",
        remedy="Make the ingestion write the fields, then re-ingest the pages of these points."),
    FindingType("retrieval.invalid_order", "error", "run", "queries", "query", "setting",
        breaks={Aspect.REACH, Aspect.SELECTION},
        title="Hits in the wrong order",
        means="has hits out of order or scores out of range", many="have hits out of order or scores out of range",
        measured="The scores of each query's hits must be descending and within the range of the collection's "
        "distance.",
        cause="The retriever reorders or rescales its hits.",
        remedy="Return hits in descending order of the collection's own score."),
    FindingType("regression.significant_drop", "error", "run", "regression", "metric", "reingest",
        reads=OF_TEXTS | OF_VECTORS | {
            Aspect.ANSWER, Aspect.VALUE, Aspect.KEPT, Aspect.COPIES, Aspect.DISTINCTION,
        },
        title="Worse than the baseline",
        means="fell below the baseline by more than the tolerated drop, and not by chance",
        many="fell below the baseline by more than the tolerated drop, and not by chance",
        measured="The run is compared with the baseline query by query. A metric is reported if it fell by more "
        "than history.tolerated_drop and a paired test rules out chance.",
        cause="The index or the ranker got worse.",
        remedy="Compare the runs and look at the queries that lost.",
        judged_by=("no_regression",)),
    FindingType("regression.query_lost", "warning", "run", "regression", "query", "query",
        reads={Aspect.ANSWER},
        title="Questions no longer answered",
        means="passed before and fails now", many="passed before and fail now",
        measured="Queries that passed in the baseline and fail now are listed.",
        cause="The answer to the query is gone or ranks lower.",
        remedy="Compare the hits of both runs.",
        judged_by=("no_regression",)),
    FindingType("regression.corpus_turnover", "info", "run", "regression", "collection", "query",
        title="Most of the index was replaced",
        means="changed so much that chunk labels are no longer valid",
        many="changed so much that chunk labels are no longer valid",
        measured="The chunks of the baseline are compared with those of this run, by page and text.",
        cause="Most of the corpus was replaced.",
        remedy="Label pages instead of chunks, or label the chunks again.",
        judged_by=("no_regression",)),
    FindingType("embedder.unreachable", "error", "run", "queries", "system", "setting",
        title="Embedding provider not reachable",
        means="refuses, times out or limits requests", many="refuse, time out or limit requests",
        measured="ragval calls the embedding provider and repeats failed calls. After the last attempt the run "
            "ends with exit code 3.",
        cause="The API key or the URL is wrong, the quota is used up, or the model at that URL is not an embedding "
        "model.",
        remedy="Check embedding.api_key, embedding.base_url and the provider's limits."),
    FindingType("embedder.input_type", "warning", "run", "queries", "setting", "setting",
        breaks={Aspect.SPACE},
        title="Queries embedded as documents",
        means="embeds queries as documents", many="embed queries as documents",
        measured="A text is embedded once as a query and once as a document. If the vectors differ, "
        "embedding.query_input_type must be the type for queries.",
        cause="The assistant embeds its questions with the input type for documents, if the suite says what it does. "
        "Otherwise only embedding.query_input_type in the suite is wrong.",
        remedy="See first how the assistant embeds its questions, and have it use the input type for queries. Then set "
        "embedding.query_input_type to search_query. Changing only the suite would hide what the assistant does."),
    FindingType("partition.untagged", "error", "subject", "metadata", "point", "reingest",
        title="Points without a partition",
        means="has no value of the field that searches filter by", many="have no value of the field that searches "
        "filter by",
        measured="The field of qdrant.partition_by is looked for in every point. An empty value is none.",
        cause="The ingestion did not set it.",
        remedy="Set the field and re-ingest: a search under a filter does not find these points, one without a filter "
        "shows them to everyone."),
    FindingType("partition.leak", "error", "subject", "metadata", "point", "reingest",
        title="Points in another page's partition",
        means="is in another partition than its page", many="are in other partitions than their pages",
        measured="A point is listed if all others of its page, at least two, are in one other partition. One that "
        "repeats another's text is not, since files of two partitions may be equal. If most pages have points of "
        "several partitions, none is. Of a page that is in the wrong partition as a whole, nothing tells.",
        cause="The ingestion stored the point with another partition's value: its readers find what is not theirs.",
        remedy="Re-ingest the pages with the value of their own partition, then delete the points that are left under "
        "the other one."),
    FindingType("absent.present", "error", "subject", "metadata", "point", "delete",
        breaks={Aspect.ABSENCE},
        title="What must be absent is in the index",
        means="holds what must be absent", many="hold what must be absent",
        measured="The addresses, ids and phrases of absent are looked for in every point: its page, its ids, its text, "
        "title and headings. Case, punctuation and line breaks make no difference to a phrase. Phrases are named by "
        "their number in the list and shown nowhere.",
        cause="It was taken down or was never meant for readers, and the ingestion did not delete its points.",
        remedy="Delete the points under delete_point_ids in remediation.json. What a page of the site still shows has "
        "to be removed there first, and the page ingested again."),
    FindingType("absent.found", "error", "subject", "queries", "entry", "setting",
        reads={Aspect.ABSENCE},
        title="Searches return what must be absent",
        means="that must be absent is returned by a search", many="that must be absent are returned by searches",
        measured="For each entry of absent, up to three searches are made: for the phrase itself and for the titles "
        "and headings of the points that hold it. It is listed if one of the top_k hits holds it.",
        cause="Its points are in what is searched.",
        remedy="Delete its points from what the assistant searches."),
    FindingType("check.crashed", "error", "run", "run", "check", "report",
        title="A check could not run",
        means="failed to run, so its criteria were not measured",
        many="failed to run, so their criteria were not measured",
        measured="An exception in ragval ended a check. Its criteria are not measured; the rest of the run continues.",
        cause="A bug in ragval, or data that it did not expect.",
        remedy="Report the exception together with the run's log."),
)
# fmt: on

#: Codes of the rules that a suite has of its own begin with it.
OWN_PREFIX = "custom."


class _Catalogue(dict[str, FindingType]):
    """The rows by code; a code of a suite's own rule has a row made from its name, since its rule has the texts."""

    def __missing__(self, code: str) -> FindingType:
        if not code.startswith(OWN_PREFIX):
            raise KeyError(code)
        return _own(code)

    def get(self, code: str, default: FindingType | None = None) -> FindingType | None:  # type: ignore[override]
        """The row of a code, as by index; the default without one."""
        return self[code] if code in self or code.startswith(OWN_PREFIX) else default


@cache
def _own(code: str) -> FindingType:
    title = code.removeprefix(OWN_PREFIX).replace("_", " ").capitalize()
    told = "The rule's query yields a row for each subject: see its file."
    means = "is found by a rule of the suite"
    return FindingType(
        code, "warning", "subject", "run", "point", "report", title=title, means=means,
        many="are found by a rule of the suite", measured=told, cause=told, remedy=told,
    )  # fmt: skip


class _Order(dict[str, int]):
    """The place of each code in reports; codes of own rules come last."""

    def __missing__(self, code: str) -> int:
        return len(self)


#: Every finding type by its code, causes before consequences, as in reports.
CATALOGUE = _Catalogue(
    (row.code, replace(row, breaks=row.breaks | {Aspect.VALUE}) if row.lowers else row) for row in _ROWS
)
#: The position of each code in it.
ORDER = _Order((code, number) for number, code in enumerate(CATALOGUE))
