"""What a run leaves for the next one, which computes only what has changed. What it measured is never kept."""
