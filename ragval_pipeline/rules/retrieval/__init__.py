"""Rules about what searches return."""
