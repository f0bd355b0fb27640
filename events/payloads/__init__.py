"""One frozen model per event type. Meanings are those of the paper's Algorithms 1 and 2.

A type is declared by its class alone: who may write it (``owner``), the operation it
completes (``operation``), the blobs it names (fields annotated `BlobDigest`). Large things (prompts, answers,
code, solutions) are such blobs. Candidates are counted ``j = 0 … N−1`` within generation ``t = 1, 2, …``;
instances are named ``group/name``.
"""

from __future__ import annotations

from types import MappingProxyType

from dga2d.events._payload import Payload as Payload
from dga2d.events._payload import collect_types
from dga2d.events.payloads._calls import *  # noqa: F403
from dga2d.events.payloads._comparisons import *  # noqa: F403
from dga2d.events.payloads._edits import *  # noqa: F403
from dga2d.events.payloads._generations import *  # noqa: F403
from dga2d.events.payloads._kernels import *  # noqa: F403
from dga2d.events.payloads._programs import *  # noqa: F403
from dga2d.events.payloads._run import *  # noqa: F403
from dga2d.events.payloads._shared import *  # noqa: F403
from dga2d.events.payloads._training import *  # noqa: F403

PAYLOAD_TYPES = MappingProxyType(collect_types(Payload))
"""The closed registry, by name: nothing outside it is ever decoded. Built and checked at import."""
