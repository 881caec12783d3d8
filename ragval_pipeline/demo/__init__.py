"""The demo: a small documentation site, its correct ingestion and its test queries.

What lives here: everything that ``ragval demo`` needs in order to validate a real index without a key or a network.
What does not: validation itself. Nothing outside this room depends on the demo's content.
"""
