"""Alerts when the verdict on an index changes: one sensor and its targets."""
