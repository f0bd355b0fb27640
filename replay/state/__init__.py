"""The state of a run: what the fold of its events means."""
