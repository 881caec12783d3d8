"""Rules about what must be absent."""
