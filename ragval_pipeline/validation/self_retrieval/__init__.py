"""Is each page found by its own name? Titles and headings as free test queries for every page."""
