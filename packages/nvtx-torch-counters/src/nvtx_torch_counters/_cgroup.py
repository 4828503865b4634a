# SPDX-License-Identifier: Apache-2.0
"""The memory of the control group that this process lives in, where one is limited.

Formats: proc_pid_cgroup(5), the kernel's cgroup-v2 (``memory.current``, ``memory.max``) and
cgroup-v1 (``memory.usage_in_bytes``, ``memory.limit_in_bytes``) documents.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from nvtx_schema import counter_schema, value

from .errors import Unavailable
from .probe import Reading

#: Version 1 has no word for "no limit" but the largest number of whole pages.
_NO_LIMIT = 1 << 62

_FILES = (("memory.current", "memory.max"), ("memory.usage_in_bytes", "memory.limit_in_bytes"))


class CgroupMemory:
    """Memory charged to the process's control group, in bytes, with the group's limit as maximum.

    A container that reaches the limit is killed, whatever the process's own RSS.

    Parameters
    ----------
    proc, mounts : path
        Where proc and the control groups are mounted.

    Raises
    ------
    Unavailable
        If the process is in no group with a memory limit.
    """

    name = "cgroup memory"
    interval: float | None = 1.0

    def __init__(self, proc: str = "/proc", mounts: str = "/sys/fs/cgroup") -> None:
        self._usage, self.limit = _limited(Path(proc), Path(mounts))
        self.schema = counter_schema({"used": value(np.int64, unit="bytes", min=0, max=self.limit)})

    def open(self) -> None:
        """Do nothing: the file is opened at every read, once a second."""

    def read(self) -> Reading:
        """Return (used,)."""
        return (int(self._usage.read_text()),)

    def close(self) -> None:
        """Do nothing."""


def _limited(proc: Path, mounts: Path) -> tuple[Path, int]:
    """Return the usage file and limit of the nearest group that has one."""
    for folder in _folders(proc, mounts):
        for usage, limit in _FILES:
            try:
                text = (folder / limit).read_text().strip()
            except OSError:
                continue
            if text != "max" and int(text) < _NO_LIMIT and (folder / usage).is_file():
                return folder / usage, int(text)
    raise Unavailable("no control group of this process limits memory")


def _folders(proc: Path, mounts: Path) -> list[Path]:
    """Return the folders of the process's groups, innermost first, down to each mount."""
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError as error:
        raise Unavailable(f"there are no control groups here ({error})") from error
    folders: list[Path] = []
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0" or "memory" in controllers.split(","):
            root = mounts if number == "0" else mounts / "memory"
            group = root / path.lstrip("/")
            # Inside a container the path may be the host's: the mount itself is the group then.
            folders += [group, *(p for p in group.parents if p.is_relative_to(root))]
    return list(dict.fromkeys(folders))
