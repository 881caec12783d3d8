"""Copies of the site's pages: a folder of Parquet parts written while reading, and the way back to them."""
