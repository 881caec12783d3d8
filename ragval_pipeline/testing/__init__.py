"""For testing a detector or an ingestion: defects to plant in an index, and readers and embedders that fail.

Public. ``defects`` damages an index and says exactly what is wrong with it; ``services`` makes the systems that a run
reads from fail. What does not live here: finding defects (``validation``), and the demo's content (``demo``).
"""
