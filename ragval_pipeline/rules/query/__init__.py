"""Rules about the test queries."""
