"""Simulating remedies in memory: what the repair of a cause would clear, by judging the affected queries again.

Planning repairs and judging their result live here; calls to Qdrant and the embedder, and writing anything, do not.
"""
