"""Earlier runs of a suite: finding them, reading them, comparing them, and keeping as many as the suite asks for."""
