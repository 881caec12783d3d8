"""The preflight checks of ``ragval doctor`` that ask a system, one file per subject."""
