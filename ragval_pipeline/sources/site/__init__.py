"""The site as its sitemap and its pages tell it: which pages there are, and what stands on them."""
