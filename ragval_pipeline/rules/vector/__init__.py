"""Rules about dense vectors."""
