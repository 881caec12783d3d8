"""Rules about the checks themselves."""
