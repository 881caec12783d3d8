"""Text: one normaliser, one tokenizer, one set of invisible characters, letter n-grams. Nothing here knows an index or a page."""
