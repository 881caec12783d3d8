"""Rules about how chunks compare with their pages."""
