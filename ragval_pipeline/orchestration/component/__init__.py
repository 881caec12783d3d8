"""The Component: a validation as a ``defs.yaml`` in somebody else's Dagster project."""
