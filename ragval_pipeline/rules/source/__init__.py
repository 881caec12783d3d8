"""Rules about the site that the index is compared with."""
