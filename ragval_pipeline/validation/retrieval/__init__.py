"""Do queries find what they must? Judging results, page rankings and metrics."""
