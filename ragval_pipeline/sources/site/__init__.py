"""The site, from its sitemap and pages: which pages there are, and their content."""
