"""Sparse vectors: which points have them, what their numbers are, and whether searches weight them."""
