"""Faults of networks, hosts and data: each ends as it must."""
