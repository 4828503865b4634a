# SPDX-License-Identifier: Apache-2.0
"""Where a sampler writes its samples when it stops."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from .errors import SinkError


def output_path(path: str | os.PathLike[str] | None) -> Path | None:
    """Check the path of an output before anything is sampled."""
    if path is None:
        return None
    checked = Path(path)
    if checked.suffix not in (".csv", ".parquet"):
        raise SinkError(f"output {str(checked)!r} ends in neither .csv nor .parquet; rename it")
    if checked.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise SinkError("a .parquet output needs pyarrow: pip install nvtx-torch-counters[parquet]")
    if not checked.absolute().parent.is_dir():
        raise SinkError(f"the folder of output {str(checked)!r} does not exist; create it")
    return checked


def child_path(path: Path) -> Path:
    """Return the output of a forked child: never the parent's file."""
    return path.with_name(f"{path.stem}.{os.getpid()}{path.suffix}")
