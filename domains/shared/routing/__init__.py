"""What the routing problems have in common: the keywords and sections of their files."""
