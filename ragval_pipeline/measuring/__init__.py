"""The work of a validation, a function an asset, whoever runs it: reading, measuring, judging. Knows no Dagster."""
