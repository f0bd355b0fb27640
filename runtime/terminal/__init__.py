"""What a person at a terminal sees of a command: results, progress, log lines."""
