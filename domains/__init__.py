"""Problem domains: instances, decoders, verifiers, references, cards and operator libraries."""

if not __name__.startswith("dga2d."):
    raise ImportError("import dga2d.domains, not domains")
