"""Rules about how the run compares with the baseline."""
