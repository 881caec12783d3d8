"""Whether the text of chunks is clean: invisible characters, wrong character sets, page furniture, hashes."""
