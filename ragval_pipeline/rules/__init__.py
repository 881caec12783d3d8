"""What can be wrong with an index: a file for each code, in folders by its prefix, and the shape that they share."""
