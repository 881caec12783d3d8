"""Vector stores: the reader that every store answers to, and the one that is implemented."""
