"""Code of the user's own that a suite names as ``module:attr``: finding it, and calling it without falling with it."""
