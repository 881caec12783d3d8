"""From a finished report to what people and tools read: one file an output, each a function of the bundle."""
