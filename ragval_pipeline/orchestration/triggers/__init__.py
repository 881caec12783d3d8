"""What starts a validation: an ingestion's asset or job, an automation condition, a changed collection, a schedule.

Each trigger stands around the one decision in ``records``; the factory puts those together that a suite names.
"""
