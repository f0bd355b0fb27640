"""The bank: code that runs accepted, with what it gained, to be offered to other runs."""
