"""The generated handbook: the second world that defects are planted in. Words in data files, rules in code."""
