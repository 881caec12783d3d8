"""Rules about which pages of the site are indexed."""
