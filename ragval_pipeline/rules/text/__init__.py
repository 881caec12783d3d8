"""Rules about the texts of chunks."""
