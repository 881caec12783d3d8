"""The files of a run, one module per output, and their folder."""
