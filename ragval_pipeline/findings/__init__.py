"""What was found wrong with an index: the catalogue of rules, the shape of one finding, and what follows from what."""
