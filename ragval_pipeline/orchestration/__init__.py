"""Dagster: assets, checks, jobs, schedules, sensors, resources and IO managers around the validation."""
