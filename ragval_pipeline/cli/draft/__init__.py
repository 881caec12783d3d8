"""What ``ragval init`` makes from an unknown collection: guesses, a suite file and starter queries."""
