"""Reading a Qdrant collection. Nothing in this room writes."""
