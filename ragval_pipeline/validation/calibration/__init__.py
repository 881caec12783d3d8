"""Thresholds that fit an index, proposed from the scores that it really gives."""
