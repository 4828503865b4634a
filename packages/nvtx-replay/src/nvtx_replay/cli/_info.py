# SPDX-License-Identifier: Apache-2.0
"""``nvtx-replay info``: what a trace or an input holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from nvtx_replay.cli._progress import reading_progress
from nvtx_replay.cli._status import LOSSES, refusals
from nvtx_replay.cli._trace import TraceInfo, is_trace, read_trace
from nvtx_replay.importers import InputFile, scan


@click.command()
@click.argument("path", metavar="TRACE_OR_INPUT", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(path: Path, *, as_json: bool) -> None:
    """Tell what a Perfetto trace, or a file that `convert` takes, holds."""
    with refusals():
        head = InputFile(path).head()
        found, whole = _trace(path) if is_trace(head) else _input(path, quiet=as_json)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
    else:
        for line in _lines(found):
            click.echo(line)
    if not whole:
        raise SystemExit(LOSSES)


def _trace(path: Path) -> tuple[dict[str, Any], bool]:
    trace = read_trace(path)
    return {"file": str(path), "format": "perfetto", **_as_dict(trace)}, trace.cut is None


def _as_dict(trace: TraceInfo) -> dict[str, Any]:
    first, last = trace.first_ns, trace.last_ns
    return {
        "packets": trace.packets,
        "processes": {str(pid): name for pid, name in sorted(trace.processes.items())},
        "threads": {f"{pid}/{tid}": name for (pid, tid), name in sorted(trace.threads.items())},
        "tracks": len(trace.tracks),
        "counters": sorted(trace.counters.values()),
        "events": dict(sorted(trace.events.items())),
        "first_ns": first,
        "span_ns": None if first is None or last is None else last - first,
        "summary": dict(sorted(trace.summary.items())),
        "cut": trace.cut,
    }


def _input(path: Path, *, quiet: bool) -> tuple[dict[str, Any], bool]:
    with reading_progress("reading", InputFile(path).size, quiet=quiet) as progress:
        source = scan(path, progress=progress)
    report = source.report
    found = {"file": str(path), **source.contents, **report.as_dict()}
    return found, report.lossless


def _lines(found: dict[str, Any]) -> Iterator[str]:
    width = max(map(len, found))
    for key, value in found.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name}: {count}" for name, count in value.items())
        elif isinstance(value, list):
            value = ", ".join(map(str, value))
        if value not in (None, ""):
            yield f"{key:<{width}}  {value}"
