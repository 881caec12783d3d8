"""What starts a validation: an ingestion's asset or job, an automation condition, a changed collection, a schedule.

All triggers use the one decision in ``records``; the factory builds those that a suite names.
"""
