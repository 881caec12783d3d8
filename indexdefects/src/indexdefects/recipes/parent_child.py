"""LlamaIndex: `HierarchicalNodeParser`; the leaves get vectors, their parents stay in a document store."""

from __future__ import annotations

from indexdefects.points import point_id
from indexdefects.recipes.base import Chunk, Document, Recipe
from indexdefects.recipes.llamaindex_sentences import SHAPE, documents_of, stored


def split(document: Document, factor: float) -> list[Chunk]:
    """Leaves of about 128 tokens below parents of about 512."""
    from llama_index.core.node_parser import HierarchicalNodeParser, get_leaf_nodes
    from llama_index.core.schema import NodeRelationship

    parser = HierarchicalNodeParser.from_defaults(
        chunk_sizes=[int(512 * factor), int(128 * factor)], chunk_overlap=int(16 * factor)
    )
    leaves = get_leaf_nodes(parser.get_nodes_from_documents(documents_of(document)))
    kept = {NodeRelationship.SOURCE, NodeRelationship.PARENT}
    parents: dict[str, str] = {}
    for leaf in leaves:
        leaf.relationships = {kind: other for kind, other in leaf.relationships.items() if kind in kept}
        parent = leaf.relationships.get(NodeRelationship.PARENT)
        if parent is not None:  # the framework draws its id at random
            parent.node_id = parents.setdefault(parent.node_id, point_id("parent", document.url, len(parents)))
    return [stored(leaf, at, document) for at, leaf in enumerate(leaves)]


RECIPE = Recipe("parent_child", SHAPE, split)
