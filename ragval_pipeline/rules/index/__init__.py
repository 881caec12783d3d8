"""Rules about the collection and its settings."""
