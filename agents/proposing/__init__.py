"""Proposers: prompts, the port to a language model, the checks of answers, and the offline proposer."""
