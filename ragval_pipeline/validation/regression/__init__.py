"""Whether the index answers worse than it did in an earlier run, beyond chance and beyond what is tolerated."""
