"""The assets of a suite: those that read, measure, ask, and report; ``table`` lists them all."""
