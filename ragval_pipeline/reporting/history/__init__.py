"""Earlier runs: comparison, trends, and the baseline."""
