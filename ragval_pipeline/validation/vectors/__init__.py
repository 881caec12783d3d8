"""Do the stored vectors belong to the stored texts, and to the model that queries are embedded with?"""
