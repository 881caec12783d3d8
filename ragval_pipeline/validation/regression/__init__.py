"""Is the index worse than in an earlier run, beyond chance and tolerance?"""
