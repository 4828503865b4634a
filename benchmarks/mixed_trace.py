# SPDX-License-Identifier: Apache-2.0
"""A Chrome trace of any size with all that an importer has to keep apart.

Four processes of eight threads each hold nested operators with arguments beside a Python stack,
begin and end halves, asynchronous ranges, counters, memory instants, and kernels of another process
that arrows lead to. A range comes after what is inside it, as profilers write them.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

EVENTS_A_STEP = 20
_STEPS_A_BLOCK = 2_000
_STEP_US = 100
_PROCESSES, _THREADS = 4, 8

_Event = dict[str, Any]


def write_mixed_trace(path: Path, events: int) -> None:
    """Write a gzip file with that many events, rounded down to whole steps."""
    steps = events // EVENTS_A_STEP
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write('{"baseTimeNanoseconds": 1700000000000000000, "traceEvents": [\n')
        for first in range(0, steps, _STEPS_A_BLOCK):
            block = range(first, min(first + _STEPS_A_BLOCK, steps))
            file.write("".join(f"{json.dumps(event)},\n" for at in block for event in _step(at)))
        file.write('{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "bench"}}]}')


def _step(at: int) -> list[_Event]:
    """Give the events of one step of one thread."""
    pid = 1 + at % _PROCESSES
    place = {"pid": pid, "tid": 10 * pid + at // _PROCESSES % _THREADS}
    start = at * _STEP_US / (_PROCESSES * _THREADS)
    events = [_operator(at * 6 + i, place, start + 2 + 8 * i) for i in range(6)]
    for i in range(2):
        events += _kernel(2 * at + i, place, start + 3 + 8 * i, start + 70 + 10 * i)
    return [*events, *_enclosing(at, place, start), *_samples(at, place, start)]


def _operator(number: int, place: _Event, start: float) -> _Event:
    args = {
        "External id": number,
        "Sequence number": number // 3,
        "Input Dims": [[16, number % 64], []],
        "Input type": ["float", ""],
        "Ev Idx": number,
    }
    when = {"ts": round(start, 3), "dur": 6.25}
    return {"ph": "X", "cat": "cpu_op", "name": f"op {number % 300}", **place, **when, "args": args}


def _kernel(number: int, place: _Event, launch: float, begin: float) -> list[_Event]:
    """Give a kernel and the arrow that leads to it."""
    device = {"pid": 0, "tid": 7 + number // 2 % 3, "ts": round(begin, 3)}
    arrow = {"id": number + 1, "cat": "ac2g", "name": "ac2g"}
    args = {"stream": 7, "correlation": number, "grid": [number % 128, 1, 1], "block": [128, 1, 1]}
    name = f"void gemm<{number % 40}>(float*)"
    return [
        {"ph": "s", **arrow, **place, "ts": round(launch, 3)},
        {"ph": "f", **arrow, **device, "bp": "e"},
        {"ph": "X", "cat": "kernel", "name": name, **device, "dur": 0.5, "args": args},
    ]


def _enclosing(at: int, place: _Event, start: float) -> list[_Event]:
    """Give halves of two kinds, and the function around the whole step."""
    function = f"model.py({at % 900}): forward"
    parents = {"Python id": at, "Python parent id": at // 2}
    request = {"cat": "request", "name": "request", "id": at, **place}
    step = {"cat": "user_annotation", "name": f"step {at}", **place}
    begin = {**place, "ts": round(start, 3)}
    return [
        {"ph": "B", **step, "ts": round(start + 51, 3)},
        {"ph": "E", **place, "ts": round(start + 60, 3), "args": {"loss": at % 97 + 0.25}},
        {"ph": "b", **request, "ts": round(start, 3)},
        {"ph": "e", **request, "ts": round(start + 2.5 * _STEP_US, 3)},
        {
            "ph": "X",
            "cat": "python_function",
            "name": function,
            **begin,
            "dur": 90.5,
            "args": parents,
        },
    ]


def _samples(at: int, place: _Event, start: float) -> list[_Event]:
    """Give two counters and what a profiler says about memory."""
    begin = {**place, "ts": round(start, 3)}
    memory = {"Total Allocated": at * 512 % 2**32, "Device Type": 0, "Device Id": -1, "Bytes": 512}
    return [
        {"ph": "C", "name": "queue", **begin, "args": {"depth": at % 50}},
        {"ph": "C", "name": "load", **begin, "args": {"cpu": at % 100 + 0.5}},
        {"ph": "i", "s": "t", "name": "[memory]", **begin, "args": memory},
    ]
