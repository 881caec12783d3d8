"""The payload snapshot: a folder of Parquet parts written while reading, and its reader."""
