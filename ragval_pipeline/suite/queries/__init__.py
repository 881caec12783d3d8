"""Test queries: their model, their file formats, and templates."""
