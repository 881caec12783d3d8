"""Is the golden set itself valid? Queries that cannot fail or cannot pass say nothing about the index."""
