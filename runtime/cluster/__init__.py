"""Evaluations and runs on the nodes of a Ray cluster; Ray places, transports and finds what has failed."""
