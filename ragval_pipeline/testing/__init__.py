"""For testing a detector, an ingestion or ragval itself: defects to plant in an index, and faults of systems.

Public. ``defects`` damages an index and says exactly what is wrong with it; ``faults`` makes the systems that a run
reads from fail. What does not live here: finding defects (``validation``), and the demo's content (``demo``).
"""
