"""Do the stored vectors match the stored texts and the queries' model?"""
