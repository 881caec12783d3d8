"""Rules about how pages are divided into chunks, and how chunks are stored."""
