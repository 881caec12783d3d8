"""Rules about the fields of points."""
