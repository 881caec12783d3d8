"""Are the chunks of each page complete, unique and fit for the model, and is their text the page's, all of it?"""
