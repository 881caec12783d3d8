"""What to validate: the suite file, test queries and their loaders, profiles and criteria."""
