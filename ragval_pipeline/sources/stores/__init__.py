"""Vector stores: the reader interface, and what implements it: a Qdrant collection, or a file of points."""
