"""What people really ask: which of it the index answers, and which pages they meet."""
