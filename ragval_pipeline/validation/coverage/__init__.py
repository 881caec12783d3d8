"""Is every page of the site in the index, and nothing else?"""
