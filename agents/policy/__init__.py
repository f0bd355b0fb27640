"""The pipeline policy π_θ: a causal language model that walks the operator graph, and its controls.

Importing this package does not import torch; a model is loaded when `policies.make_policy` builds one.
"""
