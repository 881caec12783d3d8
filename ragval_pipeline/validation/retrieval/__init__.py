"""Do queries find what they must? Judging answers, page rankings and metrics."""
