"""Sitemaps: finding them, reading them within limits, and listing every page once."""
