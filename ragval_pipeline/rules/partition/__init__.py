"""Rules about the partitions of a shared collection."""
