"""Terminal output about runs: summaries, histories, comparisons."""
