"""Is the golden set itself any good? Queries that cannot fail or cannot pass say nothing about the index."""
