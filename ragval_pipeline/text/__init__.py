"""Text: one normaliser, one tokenizer, one set of invisible characters, runs of letters. Not indexes or pages."""
