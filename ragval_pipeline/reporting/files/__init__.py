"""The files of a run, one module an output, and the folder that they appear in."""
