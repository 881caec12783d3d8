"""The outputs of a finished report for people and tools: one file per output, each a function of the bundle."""
