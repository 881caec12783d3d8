"""Fetching one address over http(s): which hosts are allowed, how much is read, and what a failure means."""
