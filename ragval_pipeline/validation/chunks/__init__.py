"""Are the chunks of each page complete, unique, and suitable for the embedding model?"""
