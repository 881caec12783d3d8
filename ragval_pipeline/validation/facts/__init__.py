"""Typed rows from a bucket of pages and chunks: the one pass over texts, with the one alignment."""
