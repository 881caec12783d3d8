"""Searching the index as users do: the suite's queries, the production search, and latency."""
