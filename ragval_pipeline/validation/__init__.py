"""Pure functions on frames and models, one package per question. Nothing in here does input or output."""
