"""Is the text of the index on the site, and the site's text in the index?"""
