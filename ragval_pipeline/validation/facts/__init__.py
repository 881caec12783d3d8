"""From a bucket of pages and chunks to typed rows: the one pass over texts, with the one alignment."""
