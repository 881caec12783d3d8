"""What can be wrong with an index: the catalogue of codes and the shape of one finding."""
