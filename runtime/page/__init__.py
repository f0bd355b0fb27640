"""A page over the log on the local machine: live and historical runs alike, read-only."""
