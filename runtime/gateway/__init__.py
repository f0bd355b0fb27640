"""The gateway to language models: one port, four backends, one retry layer.

``openai:MODEL`` and ``anthropic:MODEL`` speak to endpoints over HTTP, ``local:PATH`` runs a model on this
machine, ``recorded:RUN`` and ``recorded:FILE`` give the answers of an earlier run again.
"""

from dga2d.runtime.gateway.opening import open_model, open_models
from dga2d.runtime.gateway.retries import OutageRecorder, RetryPolicy

__all__ = ["OutageRecorder", "RetryPolicy", "open_model", "open_models"]
