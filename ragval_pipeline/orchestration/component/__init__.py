"""The Component: a validation as a ``defs.yaml`` in a Dagster project."""
