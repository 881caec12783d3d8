"""The preflight checks of ``ragval doctor``, one file per subject."""
