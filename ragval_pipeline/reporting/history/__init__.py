"""Earlier runs beside this one: what changed, what was better, and which run is the baseline."""
