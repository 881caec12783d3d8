"""Does the text of the index stand on the site, and the site's text in the index?"""
