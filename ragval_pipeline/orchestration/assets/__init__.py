"""One asset per file: a few lines around one function of ``validation`` or ``sources``."""
