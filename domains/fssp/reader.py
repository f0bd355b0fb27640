"""Reader of flow-shop instances: the "standard" job-shop format in which every job visits 0, 1, …, m − 1."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.errors import InstanceFormatError
from dga2d.domains.jsp.reader import parse_instance as parse_job_shop


@dataclass(frozen=True)
class FlowShopData:
    """Processing times: a read-only int32 `(jobs, machines)` array."""

    times: NDArray[np.int32]

    def __post_init__(self) -> None:
        self.times.setflags(write=False)


def read_instance(path: Path) -> FlowShopData:
    """Read one file of the format.

    Raises
    ------
    InstanceFormatError
        The file is missing, is not text or breaks the job-shop format, or a job does not visit the machines
        in the order of their numbers.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InstanceFormatError(path, None, f"cannot be read as text: {error}") from error
    return parse_instance(text, path)


def parse_instance(text: str, path: Path | str) -> FlowShopData:
    """Parse the text of a file; `path` names it in errors. See :func:`read_instance`."""
    shop = parse_job_shop(text, path)
    for job, machines in enumerate(shop.machines.tolist()):
        if machines != list(range(len(machines))):
            reason = f"a flow shop's job visits machines 0..{len(machines) - 1} in this order"
            raise InstanceFormatError(path, _line_of_job(text, job), reason)
    return FlowShopData(shop.times)


def _line_of_job(text: str, job: int) -> int:
    """Number of the line that describes `job` in a well-formed file."""
    data = [
        number
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    return data[job + 1]
