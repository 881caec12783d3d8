"""IndexDefects: a benchmark of tools that audit the vector index behind a RAG assistant."""
