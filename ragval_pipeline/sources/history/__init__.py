"""What earlier runs left: finding them, reading their files, and keeping as many as the suite asks for."""
