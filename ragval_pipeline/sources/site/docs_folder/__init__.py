"""A folder of Markdown, MDX or HTML as the site: which file is which address, and the page that it becomes.

What does not live here: a built site's folder that replaces fetching (``build_folder``).
"""
