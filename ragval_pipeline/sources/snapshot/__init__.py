"""The payload snapshot: a folder of Parquet parts written while reading, and the way back to its columns."""
