"""Does each page answer to its own name? Titles and headings as free test queries that cover every page."""
