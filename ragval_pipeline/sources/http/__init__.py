"""Fetching one address over http(s): allowed hosts, size limits and failures."""
