"""Reading the world: sitemaps, pages, Qdrant and embedders. The only rooms with input and output."""
