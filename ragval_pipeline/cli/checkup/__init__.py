"""The preflight checks of ``ragval doctor``, one file a thing that is looked at."""
