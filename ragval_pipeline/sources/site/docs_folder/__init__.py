"""A folder of Markdown, MDX or HTML as the site: which file is which address, and the page that it becomes.

What does not live here: the folder of a built site that stands in for fetching (``build_folder``).
"""
