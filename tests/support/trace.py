# SPDX-License-Identifier: Apache-2.0
"""Typed rows of a trace, as the real trace processor sees it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from support.rows import Arguments, CounterSample, Flow, Slice, Track, Value
from support.trace_processor import TraceProcessor

_DEBUG = "debug."

_SLICES = """
select s.id, s.track_id, s.depth, s.parent_id, p.name as parent, s.name, s.category, s.ts, s.dur,
       s.arg_set_id
from slice s left join slice p on p.id = s.parent_id order by s.id
"""
_TRACKS = """
select t.id, t.name, t.parent_id,
  (select int_value from args where arg_set_id = t.source_arg_set_id and key = 'trace_id') as uuid,
  (select string_value from args where arg_set_id = t.source_arg_set_id and key = 'description')
    as description,
  (select int_value from args where arg_set_id = t.dimension_arg_set_id
     and key = 'track_compressor_idx') as lane,
  (select int_value from args where arg_set_id = t.dimension_arg_set_id and key = 'utid') as utid,
  (select int_value from args where arg_set_id = t.dimension_arg_set_id and key = 'upid') as upid,
  (select unit from counter_track c where c.id = t.id) as unit
from track t
"""
_ARGS = """
select arg_set_id, key, value_type, int_value, string_value, real_value
from args where arg_set_id in (select distinct arg_set_id from slice) order by id
"""
_COUNTERS = "select track_id, ts, value from counter order by id"
_FLOWS = "select slice_out, slice_in from flow order by id"
_THREADS = "select utid, tid, t.name, upid from thread t"
_PROCESSES = "select upid, pid, name from process"


class Trace:
    """A loaded trace: `slices`, `counters`, `flows`, `tracks` and `problems` as typed rows.

    The rows are read when first asked for, so read them before the processor loads another.
    """

    def __init__(self, processor: TraceProcessor, path: str | Path) -> None:
        processor.load(path)
        self.processor = processor
        self.problems = processor.problems()

    @cached_property
    def tracks(self) -> dict[int, Track]:
        """Every track by the engine's id."""
        rows: dict[Any, Any] = {row["id"]: row for row in self.processor.query(_TRACKS)}
        processes = self._processes()
        threads: dict[Any, Any] = {row["utid"]: row for row in self.processor.query(_THREADS)}
        tracks = {}
        for key, row in rows.items():
            thread = threads.get(row["utid"])
            upid = row["upid"] if thread is None else thread["upid"]
            parent = rows.get(row["parent_id"])
            tracks[key] = Track(
                id=key,
                uuid=row["uuid"],
                name=row["name"],
                parent=None if parent is None else parent["name"],
                path=_path(rows, row),
                lane=row["lane"] or 0,
                process=processes.get(upid),
                thread=None if thread is None else (thread["tid"], thread["name"]),
                unit=row["unit"],
                description=row["description"],
            )
        return tracks

    @cached_property
    def slices(self) -> list[Slice]:
        """Every range and instant in the engine's order."""
        arguments = self._arguments()
        rows: list[Any] = self.processor.query(_SLICES)
        return [
            Slice(
                id=row["id"],
                track=self.tracks[row["track_id"]],
                depth=row["depth"],
                parent_id=row["parent_id"],
                parent=row["parent"],
                name=row["name"],
                category=row["category"],
                ts=row["ts"],
                dur=row["dur"],
                args=arguments.get(row["arg_set_id"], {}),
            )
            for row in rows
        ]

    @cached_property
    def counters(self) -> list[CounterSample]:
        """Every counter sample in the order of time."""
        rows: list[Any] = self.processor.query(_COUNTERS)
        return [
            CounterSample(self.tracks[row["track_id"]], row["ts"], row["value"]) for row in rows
        ]

    @cached_property
    def flows(self) -> list[Flow]:
        """Every arrow between two slices."""
        by_id = {row.id: row for row in self.slices}
        rows: list[Any] = self.processor.query(_FLOWS)
        return [Flow(by_id[row["slice_out"]], by_id[row["slice_in"]]) for row in rows]

    def series(self) -> dict[tuple[str, ...], list[tuple[int, float | None]]]:
        """Counter samples by the path of their track."""
        found: dict[tuple[str, ...], list[tuple[int, float | None]]] = {}
        for sample in self.counters:
            found.setdefault(sample.track.path, []).append((sample.ts, sample.value))
        return found

    def named(self, name: str) -> Slice:
        """The one slice of a name; fails if there is none, or more than one."""
        found = [row for row in self.slices if row.name == name]
        assert len(found) == 1, f"{len(found)} slices are named {name!r}, expected one"
        return found[0]

    def _processes(self) -> dict[int, tuple[int, str | None]]:
        rows: list[Any] = self.processor.query(_PROCESSES)
        return {row["upid"]: (row["pid"], row["name"]) for row in rows}

    def _arguments(self) -> dict[int, Arguments]:
        sets: dict[int, Arguments] = {}
        rows: list[Any] = self.processor.query(_ARGS)
        for row in rows:
            key = row["key"]
            if not key.startswith(_DEBUG):  # the engine adds notes of its own
                continue
            found = sets.setdefault(row["arg_set_id"], {})
            found[key.removeprefix(_DEBUG)] = _value(row)
        return sets


def _path(rows: dict[Any, Any], row: Any) -> tuple[str, ...]:
    """Names of a track and those above it, from the root down."""
    names: list[str] = []
    while row is not None:
        names.append(row["name"] or "")
        row = rows.get(row["parent_id"])
    return tuple(reversed(names))


def _value(row: Any) -> Value:
    kind = row["value_type"]
    if kind == "string":
        return str(row["string_value"])
    if kind == "real":  # SQL has no NaN: the engine gives NULL
        return float("nan") if row["real_value"] is None else float(row["real_value"])
    if kind == "bool":
        return bool(row["int_value"])
    if kind in ("uint", "pointer"):  # SQL has no uint64: large ones read negative
        return int(row["int_value"]) % 2**64
    if kind == "int":
        return int(row["int_value"])
    assert kind == "null", f"the engine gave an argument of unknown type {kind!r}"
    return None
