"""What the first points of a collection show before a run: its fields, kinds of points, embedded texts, repetition."""
