"""How teams ingest documentation: one file per framework, with the framework's real code."""
