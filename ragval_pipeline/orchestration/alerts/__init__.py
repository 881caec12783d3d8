"""Telling people when the verdict on an index changes: one sensor, and the places that it writes to."""
