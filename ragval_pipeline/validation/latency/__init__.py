"""How long does an answer take, and which part of it? What does not live here: making the calls."""
