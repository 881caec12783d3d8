"""How each finding is measured, as ``ragval explain`` and the reference tell it.

The numbers that decide stand in ``validation/thresholds.py``, so none is repeated here.
"""

from __future__ import annotations

from collections.abc import Mapping

MEASURED: Mapping[str, str] = {
    "source.unreachable": "ragval requests the sitemap and repeats failed requests. After the last attempt the run "
    "ends with exit code 3.",
    "source.malformed": "The answer is parsed as a sitemap, a sitemap index or plain text with one address a line. "
    "Document types and entities are refused.",
    "source.empty": "The entries of the sitemap that pass source.include and source.exclude are counted.",
    "source.suspicious_lastmod": "The lastmod dates of all pages are compared with each other and with the time of "
    "the run. When they all agree, or lie in the future, no page is called stale because of its date.",
    "source.page_unfit": "Each page in scope is read. It is named when the server redirects it elsewhere, answers "
    "that it is gone, or when the page asks not to be indexed.",
    "coverage.missing_page": "The pages in scope of the sitemap are compared with the pages of all points. Different "
    "spellings of one address, such as with and without a trailing slash, count as the same page.",
    "coverage.orphan_page": "The pages of all points are compared with the pages in scope of the sitemap, and those "
    "that have no counterpart are named.",
    "coverage.foreign_host": "The hosts of the stored addresses are compared with the sitemap's. Another host is "
    "named when it holds pages that the site has under the same path, or when nothing is stored from the site's own "
    "host. A single page of some other site is an orphan instead.",
    "coverage.loopback_host": "Stored addresses are searched for localhost and for private network addresses.",
    "coverage.url_variant": "Stored addresses that mean the same page are grouped, and every page with more than one "
    "spelling is named. Addresses that differ in case or fragment count only where the same chunk stands under "
    "both.",
    "coverage.stale_page": "The page's lastmod date in the sitemap is compared with the time stored with its newest "
    "chunk. Without believable dates nothing is named.",
    "payload.missing_field": "Each point is checked for every field of payload.required.",
    "payload.empty_field": "Each required field is checked for a value: null, blanks, invisible characters and empty "
    "lists count as empty, 0 and false do not.",
    "payload.wrong_type": "The type of each value is compared with what the field is for: texts, numbers, lists of "
    "headings.",
    "payload.invalid_value": "Values are checked for what the field can hold: web addresses, counts from 1, times "
    "that are not in the future.",
    "payload.unexpected_module": "The module of each point is compared with payload.modules, or with the folders of "
    "the site's addresses when the suite lists none. Nothing is named where modules are not called after folders at "
    "all.",
    "payload.constant_field": "The values of each field that should tell points apart are counted. Fields that may "
    "well be the same everywhere, such as the model, are left alone.",
    "payload.field_map": "A required field that hardly any point has is looked for under other names, and nested.",
    "payload.duplicate_id": "Points are grouped by the id in their payload. Numbers that every page counts anew are "
    "places and not ids.",
    "payload.id_rule": "The id of each point is computed from payload.id_rule and compared with the stored one.",
    "payload.flat_headings": "The stored heading path of each chunk is compared with the headings that its page has. "
    "It is named when nearly all pages with deeper headings store only the first level.",
    "chunk.index_gap": "The chunk numbers of each page are checked for holes between 0 and the highest.",
    "chunk.duplicate_index": "Points are grouped by page and chunk number. Times of embedding, where stored, tell "
    "which point is the newest.",
    "chunk.stale_tail": "The last chunks of a page are named when they were embedded before all chunks in front of "
    "them and the page no longer holds their text. Without times the page alone decides.",
    "chunk.ingested_twice": "Each chunk is located on its page. Where two chunks start at the beginning of the page "
    "and two end at its end, and most of the text between is covered twice, two ingestions went over it. The "
    "ordinary overlap of neighbours does not count, nor does what the page itself repeats.",
    "chunk.order_shuffled": "Each chunk is located on its page, and its place is compared with its chunk number.",
    "chunk.duplicate_text": "Points are grouped by their text, with blanks and invisible characters folded.",
    "chunk.near_duplicate": "Texts of different pages are compared by the share of three-word sequences that they "
    "have in common (Jaccard similarity). MinHash finds the candidates, and each pair is then compared exactly.",
    "chunk.over_model_limit": "The tokens of each text are counted with the model's own tokenizer where ragval has "
    "it, else with the stored counts or a cautious estimate, and compared with the model's limit. The model is the "
    "one that the payload names, else the suite's.",
    "chunk.too_small": "The letters and digits of each chunk are counted without the lines that are only its headings.",
    "chunk.token_count_off": "Stored token counts are compared with a recount. Tokenizers differ, so each count is "
    "judged by how this collection counts all its other texts.",
    "chunk.one_per_page": "Pages whose only chunk is longer than the model's limit are counted. It is named when that "
    "happens to at least two pages and to half of all pages longer than the limit.",
    "text.zero_width": "Texts and headings are searched for characters that nobody sees, such as U+200B.",
    "text.mojibake": "Texts are searched for the traces of a wrong decoding, such as “Ã©” for “é”. What stands on the "
    "page itself is left alone.",
    "text.glued_words": "Words of a chunk that the page has as two words are counted.",
    "text.boilerplate": "Two kinds of evidence: phrases that documentation themes write, such as “Edit this page”, on "
    "several pages; and wordings with which the chunks of many pages begin or end although the content of these "
    "pages does not hold them. Headings and the source lines that an ingestion puts before a chunk never count.",
    "text.hash_mismatch": "The stored hash is compared with the hashes of the text in several forms. Points are "
    "judged only where a good share of all hashes can be reproduced.",
    "integrity.drifted": "Each chunk is aligned with its page, and the letters and words that the page does not have "
    "in that place are counted.",
    "integrity.gone": "Each chunk is aligned with its page; it is gone when less than half of it is found there.",
    "integrity.not_captured": "Each passage of the page's content is searched for in the chunks of that page. Menus, "
    "footers and very short blocks do not count as content.",
    "integrity.heading_loss": "Each heading of the page is searched for in the texts and heading paths of its chunks.",
    "integrity.page_unreadable": "Each page in scope, and each page that chunks come from, is read. Pages that do not "
    "answer, or hold next to no text without JavaScript, are named, and their chunks are not compared.",
    "vector.zero": "The length of every stored vector is computed.",
    "vector.missing": "Every point is checked for a vector under qdrant.vector_name.",
    "vector.identical": "Points with the same vector are grouped, and groups with different texts are named.",
    "vector.dimension": "The collection's dimension and distance are compared with the embedder's.",
    "vector.model_mismatch": "Stored texts are embedded again and compared with the stored vectors. It is named when "
    "the collection as a whole does not agree, after other input types and cut texts were tried.",
    "vector.mixed_models": "Stored texts are embedded again. A group of points that disagrees as a whole, while the "
    "rest agrees, was made with another model.",
    "vector.text_mismatch": "Stored texts are embedded again, and the cosine between stored and new vector is "
    "computed. What the other vector findings explain is left out.",
    "vector.swapped": "A vector that does not fit its own text is compared with the other texts; it is named when it "
    "fits one of them.",
    "index.unreachable": "ragval calls Qdrant and repeats failed calls. After the last attempt the run ends with exit "
    "code 3.",
    "index.collection_missing": "Qdrant is asked for the collection, or the alias, of qdrant.collection.",
    "index.empty": "The points that pass qdrant.filter are counted.",
    "index.not_ready": "Qdrant's own status of the collection is read: its colour, the optimiser, and vectors that "
    "are not indexed yet. An embedded Qdrant has none of these.",
    "index.payload_index_missing": "The fields of qdrant.filter are compared with the collection's payload indexes.",
    "index.low_ann_recall": "Queries and stored vectors are searched twice, by default and exactly, and the hits are "
    "compared.",
    "index.changed_during_read": "The points are counted before and after the read, and their ids are compared again "
    "at the end of the run.",
    "query.failed": "Each test query is searched, and each of its expectations is judged on the hits. It fails when "
    "one of them does not hold.",
    "query.negative_scored_high": "Each off-topic query is searched, and its best score is compared with its limit.",
    "query.dead_target": "The pages, modules and chapters that queries expect are looked up in the sitemap and the "
    "index.",
    "query.unmatched_judgements": "The ids of the ground truth are looked up among the queries and in the index.",
    "query.weak_oracle": "The chance that hits drawn at random from this index pass the query is computed.",
    "query.duplicate": "Queries are grouped by their text, with case and accents folded.",
    "query.unreachable_gate": "The best value that a perfect ranking could reach with this ground truth is computed "
    "and compared with the gate.",
    "query.no_coverage": "Modules of the index that no test query names, and in which no query has a right page, are "
    "listed.",
    "query.threshold_unfit": "The scores of right hits are compared with those of wrong ones, and the threshold with "
    "both.",
    "retrieval.crowded_top_k": "The hits of each query are grouped by page and by nearly equal text.",
    "retrieval.hub_chunk": "Every page is asked for by its title, headings and words. A chunk is named when it is "
    "among the hits of far more questions about other pages than chance gives, and these have few words in common.",
    "retrieval.dark_page": "Every page is asked for by its title, its headings and words that hardly any other page "
    "has. It is named when none of these questions finds it. Titles that several pages share are not asked.",
    "retrieval.nondeterministic": "Each query is asked several times (retrieval.repeats), and ids, order and scores "
    "of the hits are compared.",
    "retrieval.slow": "Single, warm calls of embedding and search are timed, and their 95th percentile is compared "
    "with the budget of latency_p95_ms.",
    "retrieval.incomplete_metadata": "The hits of all queries are checked for the required fields.",
    "retrieval.invalid_order": "The scores of each query's hits are checked: descending, and within the range of the "
    "collection's distance.",
    "regression.significant_drop": "The run is compared with the baseline query by query. A metric is named when it "
    "fell by more than history.tolerated_drop and a paired test says that chance does not explain it.",
    "regression.query_lost": "Queries that passed in the baseline and fail now are listed.",
    "regression.corpus_turnover": "The chunks of the baseline are compared with today's, by page and text.",
    "embedder.unreachable": "ragval calls the embedding provider and repeats failed calls. After the last attempt the "
    "run ends with exit code 3.",
    "embedder.input_type": "A text is embedded once as a query and once as a document. Where the vectors differ, "
    "embedding.query_input_type must be the one for queries.",
    "check.crashed": "An exception inside ragval ended a check. Its criteria are not measured, and the rest of the "
    "run goes on.",
}
