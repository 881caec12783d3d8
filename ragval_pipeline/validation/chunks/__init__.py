"""Are the chunks of each page complete, single, and as the embedding model needs them?"""
