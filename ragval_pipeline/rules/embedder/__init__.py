"""Rules about the embedding model that the queries ask."""
