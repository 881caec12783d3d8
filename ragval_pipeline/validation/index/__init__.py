"""Is the collection itself fit to serve?"""
