"""Pure functions on frames and models, one room per question. Nothing in here reads or writes the world."""
