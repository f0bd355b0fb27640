"""A run from its settings to its end: start, go on, fork, test, and put its best algorithm to work."""
