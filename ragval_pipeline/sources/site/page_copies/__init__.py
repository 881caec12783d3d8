"""Copies of the site's pages: a folder of Parquet parts written while reading, and its reader."""
