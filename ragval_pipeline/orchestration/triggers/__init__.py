"""What starts a validation: an ingestion's asset or job, an automation condition, a changed collection, a schedule.

Each file holds one trigger around the one decision in ``decision``; the factory puts those together that a suite names.
"""
