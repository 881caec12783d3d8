"""Rules about sparse vectors."""
