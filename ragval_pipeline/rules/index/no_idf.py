"""Keyword search without word rarity."""

from ragval_pipeline.rules.rule import Rule

SQL = """
select vector as name, collection as all_collection from sparse_vectors
where not has_idf and (model = 'bm25' or weights = 'bm25')
"""

RULE = Rule(
    code="index.no_idf",
    severity="warning",
    level="run",
    group="vectors",
    subject_kind="vector",
    action="setting",
    title="Keyword search without word rarity",
    means="holds weights of BM25, and the collection does not weight them by how rare a word is",
    many="hold weights of BM25, and the collection does not weight them by how rare a word is",
    measured=(
        "The numbers of sparse vectors show whether they are BM25's, or retrieval.sparse.model says so. BM25 "
        "leaves the rarity of words (IDF) to Qdrant, which applies it if the sparse vector has the modifier idf."
    ),
    cause="The sparse vector was created without the modifier idf: common words count as much as rare ones.",
    remedy="Set the modifier idf on this sparse vector with an update of the collection; no point changes.",
    sql=SQL,
)
