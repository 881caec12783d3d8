"""ragval: tells whether the search index behind a RAG assistant can be trusted."""
