"""Rules about the log of real questions."""
