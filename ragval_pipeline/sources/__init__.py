"""Reading outside systems: sitemaps, pages, Qdrant and embedders. All input and output of a run is here."""
