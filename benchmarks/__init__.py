"""Measuring what ragval costs, command by command: ``python -m benchmarks.NAME``."""
