# SPDX-License-Identifier: Apache-2.0
"""Which devices CUDA would show, in which order, told without starting CUDA.

The rules are those of "CUDA Environment Variables" in the CUDA Programming Guide and of
"CUDA Device Enumeration" in the MIG User Guide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .errors import Unavailable

_LEGACY_MIG = re.compile(r"MIG-(GPU-[0-9a-fA-F-]+)/(\d+)/(\d+)")


@dataclass(frozen=True)
class Board:
    """One GPU as NVML lists it, in PCI order.

    Attributes
    ----------
    uuid, model : str
        ``GPU-...`` and the product name.
    instances : tuple of str
        UUIDs (``MIG-...``) of its MIG devices; a board in MIG mode is no device itself.
    mig : bool
        Whether it is in MIG mode.
    """

    uuid: str
    model: str
    instances: tuple[str, ...] = ()
    mig: bool = False


def visible_uuids(boards: Sequence[Board], environ: Mapping[str, str]) -> list[str]:
    """Return the UUIDs of the devices that CUDA shows, in CUDA's order.

    Raises
    ------
    Unavailable
        Where the order cannot be told from outside: boards of several models, addressed by
        index, while ``CUDA_DEVICE_ORDER`` lets CUDA put the fastest first.
    """
    setting = environ.get("CUDA_VISIBLE_DEVICES")
    if setting is None:
        return _by_indices(boards, range(len(boards)), environ)
    words = [word.strip() for word in setting.split(",")]
    if words[0].startswith(("GPU-", "MIG-")):
        return _by_names(boards, words)
    return _by_indices(boards, _indices(words, len(boards)), environ)


def _indices(words: Sequence[str], count: int) -> list[int]:
    """Return the valid indices; the first invalid word ends the list, a repeated one voids it."""
    indices: list[int] = []
    for word in words:
        number = re.match(r"\+?\d+", word)
        if number is None or int(number.group()) >= count:
            break
        indices.append(int(number.group()))
    return indices if len(set(indices)) == len(indices) else []


def _by_indices(
    boards: Sequence[Board], indices: Sequence[int], environ: Mapping[str, str]
) -> list[str]:
    models = {board.model for board in boards}
    if indices and len(models) > 1 and environ.get("CUDA_DEVICE_ORDER") != "PCI_BUS_ID":
        raise Unavailable(
            f"the boards differ ({', '.join(sorted(models))}) and CUDA orders them by speed; set "
            "CUDA_DEVICE_ORDER=PCI_BUS_ID, or let the device join once CUDA is in use"
        )
    uuids: list[str] = []
    for index in indices:
        board = boards[index]
        # CUDA shows one MIG device of a board that is addressed by its index.
        uuids += board.instances[:1] if board.mig else [board.uuid]
    return uuids


def _by_names(boards: Sequence[Board], words: Sequence[str]) -> list[str]:
    names = [b.uuid for b in boards if not b.mig] + [i for b in boards for i in b.instances]
    uuids: list[str] = []
    for word in words:
        fits = [name for name in names if name.lower().startswith(word.lower())]
        if _LEGACY_MIG.fullmatch(word):
            raise Unavailable(
                f"{word!r} names a MIG device by instance numbers, the form before R470; "
                "name it by its MIG- UUID (nvidia-smi -L)"
            )
        if len(fits) != 1 or not word[4:]:
            break
        uuids.append(fits[0])
    return uuids if len(set(uuids)) == len(uuids) else []
