"""Text: one normaliser, one tokenizer, one set of invisible characters, runs of letters; no index, no page."""
