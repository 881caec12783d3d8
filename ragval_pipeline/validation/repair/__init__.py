"""Trying remedies in memory: what the repair of a cause would clear, found by judging the queries concerned again.

Planning repairs and judging their result live here; calls to Qdrant and the embedder, and writing anything, do not.
"""
