"""What ``ragval init`` makes of a collection that it has never seen: guesses, a suite file and starter queries."""
