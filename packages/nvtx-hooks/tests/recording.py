# SPDX-License-Identifier: Apache-2.0
"""Reads back what this process told NVTX, by an injection of the tests' own.

A tool that was set before is told all the same. RECORDING_LOG names a folder in which each process
leaves all that it read, a JSON line an event, for whoever compares the two.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

_SOURCE = Path(__file__).with_name("recording_injection.c")
_KINDS = ("push", "pop", "mark")


@dataclass(frozen=True)
class Event:
    """One call of NVTX."""

    kind: str
    thread: int
    domain: str
    category: str | None
    color: int
    message: str
    payload: dict[str, Any] = field(default_factory=dict)


class _RawEvent(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_int32),
        ("thread", ctypes.c_int32),
        ("category", ctypes.c_uint32),
        ("color", ctypes.c_uint32),
        ("domain", ctypes.c_uint64),
        ("schema", ctypes.c_uint64),
        ("message", ctypes.c_char * 1100),
        ("payload", ctypes.c_uint8 * 256),
    )


class _RawEntry(ctypes.Structure):
    _fields_ = (
        ("schema", ctypes.c_uint64),
        ("type", ctypes.c_uint64),
        ("offset", ctypes.c_uint64),
        ("detail", ctypes.c_uint64),
        ("name", ctypes.c_char * 64),
    )


def build_injection(folder: Path) -> Path:
    """Compile the injection; it needs a C compiler and the headers of nvidia-nvtx."""
    spec = find_spec("nvidia")
    locations = list(spec.submodule_search_locations or ()) if spec else []
    headers = [path for root in locations for path in Path(root).glob("*/include/nvtx3")]
    compiler = os.environ.get("CC") or shutil.which("cc")
    assert headers, "the NVTX headers are missing: install nvidia-nvtx"
    assert compiler, "no C compiler was found: set CC"
    library = folder / "librecording.so"
    command = [compiler, "-O1", "-shared", "-fPIC", f"-I{headers[0].parent}", str(_SOURCE)]
    subprocess.run([*command, "-o", str(library), "-ldl"], check=True)
    return library


def inject(library: Path) -> None:
    """Let NVTX find the injection at its first call, and the injection the tool set before."""
    before = os.environ.get("NVTX_INJECTION64_PATH")
    if before:
        os.environ["RECORDING_NEXT"] = before
    os.environ["NVTX_INJECTION64_PATH"] = str(library)


class Recorder:
    """The events since the last `clear`, in the order of their calls."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        for name in ("events", "entries", "texts"):
            getattr(self._library, f"recording_{name}").restype = ctypes.c_size_t

    def clear(self) -> None:
        folder = os.environ.get("RECORDING_LOG")
        if folder:
            with (Path(folder) / f"{os.getpid()}.jsonl").open("a") as log:
                log.writelines(json.dumps(asdict(event)) + "\n" for event in self.events())
        self._library.recording_clear()

    def events(self) -> list[Event]:
        texts = [text.decode() if text else "" for text in self._read("texts", ctypes.c_char_p)]
        schemas = defaultdict(list)
        for entry in self._read("entries", _RawEntry):
            schemas[entry.schema].append(entry)
        return [_event(raw, texts, schemas) for raw in self._read("events", _RawEvent)]

    def text_count(self) -> int:
        """How many strings, domains and categories were registered in all."""
        return len(self._read("texts", ctypes.c_char_p))

    def _read(self, what: str, kind: Any) -> list[Any]:
        first = ctypes.POINTER(kind)()
        count = getattr(self._library, f"recording_{what}")(ctypes.byref(first))
        return [first[index] for index in range(count)]


def _event(raw: Any, texts: list[str], schemas: dict[int, list[Any]]) -> Event:
    prefix = f"category {raw.domain} {raw.category} "
    category = next((t.removeprefix(prefix) for t in texts if t.startswith(prefix)), None)
    return Event(
        kind=_KINDS[raw.kind],
        thread=raw.thread,
        domain=texts[raw.domain] if raw.domain else "",
        category=category,
        color=raw.color,
        message=raw.message.decode(),
        payload=_payload(raw, schemas) if raw.schema else {},
    )


def _payload(raw: Any, schemas: dict[int, list[Any]]) -> dict[str, Any]:
    """Decode what nvtx makes of a structured row: each field has a schema of one entry."""
    data = bytes(raw.payload)
    values: dict[str, Any] = {}
    for entry in schemas[raw.schema]:
        (kind,) = schemas[entry.type]
        name = entry.name.decode()
        if kind.type in schemas:  # a fixed array; its elements are a schema of their own
            values[name] = np.frombuffer(data, np.int64, kind.detail, entry.offset).tolist()
        else:
            size = kind.detail * 4
            text = data[entry.offset : entry.offset + size].decode("utf-32-le")
            values[name] = text.rstrip("\0")
    return values


def sequence(events: list[Event]) -> list[str]:
    """Write one thread's events as `+label`, with `'` for backward, and `-label`.

    Raises
    ------
    AssertionError
        A pop has no push, or a range is left open: the events are not balanced.
    """
    assert len({event.thread for event in events}) <= 1, "events of several threads"
    lines, open_ranges = [], []
    for event in events:
        if event.kind == "push":
            name = event.message.split(":")[0] + "'" * (event.category == "backward")
            name += "^" * event.message.endswith("[recompute]")
            open_ranges.append(name)
            lines.append(f"+{name}")
        elif event.kind == "pop":
            assert open_ranges, f"a pop without a push after {lines}"
            lines.append(f"-{open_ranges.pop()}")
        else:
            lines.append(f"!{event.message}")
    assert not open_ranges, f"left open: {open_ranges} after {lines}"
    return lines
