# SPDX-License-Identifier: Apache-2.0
"""Values of counters, and the memory counters that PyTorch hides in instants."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from nvtx_replay.importers.chrome._identity import Id, normal_id
from nvtx_replay.importers.chrome._json_events import Number
from nvtx_replay.importers.chrome._problems import Problems
from nvtx_replay.importers.chrome._text import as_text

Value: TypeAlias = int | float | None
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

# Numbers of c10::DeviceType, as PyTorch's profiler writes them.
_DEVICES = {0: "cpu", 1: "cuda", 6: "hip", 12: "xpu", 13: "mps", 20: "privateuseone"}
_MEMORY_TOTALS = {"Total Allocated": "allocated", "Total Reserved": "reserved"}


class Series(NamedTuple):
    """One line of a counter: a key of a counter event's ``args``, in one process."""

    pid: Id
    name: str
    unit: str | None = None


def counter_samples(event: dict[str, Any], problems: Problems) -> Iterator[tuple[Series, Value]]:
    """Yield the samples of a ``C`` event; None is a gap."""
    args = event.get("args")
    if not isinstance(args, dict) or not args:
        problems.skip(
            "counter_without_values", f"counter '{as_text(event.get('name', ''))[:60]}' has no args"
        )
        return
    name = as_text(event.get("name", ""))
    if event.get("id") is not None:
        name = f"{name} {as_text(event['id'])}"
    pid = normal_id(event.get("pid"))
    for key, raw in args.items():
        kept, value = _value(raw, f"{name}.{key}", problems)
        if kept:
            yield Series(pid, f"{name}.{as_text(key)}"), value


def memory_samples(event: dict[str, Any]) -> Iterator[tuple[Series, Value]]:
    """Yield the totals that a ``[memory]`` instant of PyTorch's profiler carries, in bytes."""
    args = event.get("args")
    if event.get("name") != "[memory]" or not isinstance(args, dict):
        return
    kind, index = args.get("Device Type"), args.get("Device Id")
    device = _DEVICES.get(kind) if isinstance(kind, int) else None
    device = device or f"device type {as_text(kind)}"
    if isinstance(index, int) and index >= 0:
        device = f"{device}:{index}"
    for key, series in _MEMORY_TOTALS.items():
        value = args.get(key)
        if type(value) is int and INT64_MIN <= value <= INT64_MAX:
            yield Series(normal_id(event.get("pid")), f"memory {device}.{series}", "bytes"), value


def _value(raw: Any, where: str, problems: Problems) -> tuple[bool, Value]:
    """Return whether a sample is to be written, and its value."""
    if type(raw) is int:
        return True, raw if INT64_MIN <= raw <= INT64_MAX else float(_capped(raw))
    if type(raw) is Number or isinstance(raw, float):
        number = float(raw)
        if math.isfinite(number):
            return True, number
        return problems.repair("counter_gap", f"{where} is {raw}; written as a gap"), None
    if isinstance(raw, str) and (parsed := _parsed(raw)) is not None:
        sentence = f"{where} is the text {raw[:40]!r}; read as a number"
        return problems.repair("number_as_text", sentence), parsed
    sentence = f"{where} is {as_text(raw)[:40]}, which is no number; written as a gap"
    return problems.repair("counter_gap", sentence), None


def _parsed(text: str) -> int | float | None:
    """Return the number that a text is, if it is a finite decimal one."""
    try:
        number = float(text)
        if not math.isfinite(number):
            return None
        whole = int(text) if text.strip().lstrip("+-").isdigit() else None
    except ValueError:
        return None
    return whole if whole is not None and INT64_MIN <= whole <= INT64_MAX else number


def _capped(value: int) -> int:
    """Return an integer that a double can hold; beyond its range, its largest power of two."""
    return max(min(value, 2**1023), -(2**1023))
