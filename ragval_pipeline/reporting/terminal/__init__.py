"""What the command line prints about runs: summaries, histories, comparisons."""
