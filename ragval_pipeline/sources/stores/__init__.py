"""Vector stores: the reader interface, and its one implementation."""
