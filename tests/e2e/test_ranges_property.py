# SPDX-License-Identifier: Apache-2.0
"""Ranges in any order come back with the nesting, times and lanes that the rules give them."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import nvtx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nvtx.writer import Domain, Session, Stream
from support import PacketTrace, Slice, Trace
from support.comparison import differences
from support.lanes import Placed, Range, place
from support.range_trees import random_crossings, random_tree, shuffled

OpenSession = Callable[..., Session]
Load = Callable[[Path], Trace]

TREES = 2_000
SESSION = "session"


def event_schemas(domain: Domain) -> tuple[Any, Any]:
    """Schemas of a range and of a mark, each with a number as payload."""

    def time(kind: nvtx.EntryKind) -> Any:
        return nvtx.numpy_dtype(np.int64, entry_kind=kind)

    text = nvtx.numpy_dtype((np.str_, 24), entry_kind=nvtx.EntryKind.MESSAGE)
    rest = [("message", text), ("number", np.int64)]
    ends = [("begin", time(nvtx.EntryKind.RANGE_BEGIN)), ("end", time(nvtx.EntryKind.RANGE_END))]
    at = [("at", time(nvtx.EntryKind.MARK))]
    return (
        domain.get_schema(np.dtype(ends + rest), kind=nvtx.EventKind.RANGE_PUSHPOP),
        domain.get_schema(np.dtype(at + rest), kind=nvtx.EventKind.MARK),
    )


def write(stream: Stream, schemas: tuple[Any, Any], ranges: Iterable[Range]) -> None:
    """Write ranges and marks one by one, in the order given."""
    of_range, of_mark = schemas
    for item in ranges:
        if item.mark:
            stream.write_event(of_mark, (item.begin, item.name, item.number))
        else:
            stream.write_event(of_range, (item.begin, item.end, item.name, item.number))


def write_streams(session: Session, streams: dict[str, list[Range]]) -> None:
    """Write each list of ranges to a stream of its own."""
    with session:
        domain = session.get_domain("trees")
        schemas = event_schemas(domain)
        for name, ranges in streams.items():
            with session.create_stream(name, domain=domain) as stream:
                write(stream, schemas, ranges)


def expected_rows(stream: str, placed: Iterable[Placed]) -> list[tuple[object, ...]]:
    """The rows that `Slice.row` gives for what was placed."""
    return [
        (
            *(None, None, (SESSION, stream)),
            *(each.depth, each.parent, each.range.name, "trees"),
            *(each.range.begin, each.range.end - each.range.begin),
            (("payload.number", "int", repr(each.range.number)),),
        )
        for each in placed
    ]


def written_rows(trace: Trace) -> list[tuple[object, ...]]:
    return [row.row() for row in trace.slices if row.category == "trees"]


def lanes_by_stream(trace: PacketTrace) -> dict[str, dict[str, int]]:
    """For each stream, which of its tracks every named event is on."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for event in trace.events:
        if event.name is not None and event.categories == ("trees",):
            found[trace.tracks[event.track].name][event.name] = event.track
    return found


def same_lanes(found: dict[str, int], placed: list[Placed]) -> bool:
    """Tell whether ranges share tracks exactly where the model lets them share lanes."""
    pairs = {(found[each.range.name], each.lane) for each in placed}
    tracks, lanes = {track for track, _ in pairs}, {lane for _, lane in pairs}
    return len(pairs) == len(tracks) == len(lanes)


def test_trees_nest_as_they_were_grown_whatever_the_order(
    tmp_path: Path, load: Load, open_session: OpenSession
) -> None:
    path = tmp_path / "trees.pftrace"
    random = Random(20_230_517)
    trees = {f"s{number}": random_tree(random, f"t{number}") for number in range(TREES)}
    placed = {stream: list(tree.placed()) for stream, tree in trees.items()}
    ranges = {stream: [each.range for each in rows] for stream, rows in placed.items()}
    write_streams(
        open_session(path, SESSION),
        {stream: shuffled(random, rows) for stream, rows in ranges.items()},
    )
    trace = load(path)
    expected = [row for stream in placed for row in expected_rows(stream, placed[stream])]
    assert differences(written_rows(trace), expected) == []
    assert trace.problems == {}
    raw = PacketTrace.read(path)
    assert raw.faults == []
    tracks = {stream: set(rows.values()) for stream, rows in lanes_by_stream(raw).items()}
    assert {stream: len(found) for stream, found in tracks.items()} == dict.fromkeys(trees, 1)


def test_crossings_keep_their_ends_on_the_lanes_that_the_rule_gives(
    tmp_path: Path, load: Load, open_session: OpenSession
) -> None:
    path = tmp_path / "crossings.pftrace"
    random = Random(20_230_518)
    streams = {f"s{number}": random_crossings(random, f"c{number}") for number in range(TREES)}
    write_streams(open_session(path, SESSION), streams)
    placed = {stream: place(ranges) for stream, ranges in streams.items()}
    assert max(each.lane for rows in placed.values() for each in rows) >= 4
    trace = load(path)
    expected = [row for stream in placed for row in expected_rows(stream, placed[stream])]
    assert differences(written_rows(trace), expected) == []
    raw = PacketTrace.read(path)
    assert raw.faults == []
    found = lanes_by_stream(raw)
    assert [stream for stream in placed if not same_lanes(found[stream], placed[stream])] == []


@st.composite
def crossing_ranges(draw: st.DrawFn) -> list[Range]:
    times = st.integers(0, 8)
    pairs = draw(st.lists(st.tuples(times, times, st.booleans()), min_size=1, max_size=8))
    return [
        Range(f"r{number}", min(a, b), max(a, b), number, mark=a == b and mark)
        for number, (a, b, mark) in enumerate(pairs)
    ]


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(ranges=crossing_ranges())
def test_any_few_ranges_are_placed_as_the_model_places_them(
    tmp_path_factory: pytest.TempPathFactory,
    load: Load,
    open_session: OpenSession,
    ranges: list[Range],
) -> None:
    path = tmp_path_factory.mktemp("few") / "few.pftrace"
    write_streams(open_session(path, SESSION), {"s": ranges})
    placed = place(ranges)
    assert differences(written_rows(load(path)), expected_rows("s", placed)) == []
    raw = PacketTrace.read(path)
    assert raw.faults == []
    assert same_lanes(lanes_by_stream(raw)["s"], placed)


def changed(row: Slice, **values: object) -> tuple[object, ...]:
    return dataclasses.replace(row, **values).row()  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["parent", "depth", "dur", "args", "ts", "name", "track"])
def test_the_comparison_sees_a_single_changed_field(
    tmp_path: Path, load: Load, open_session: OpenSession, field: str
) -> None:
    path = tmp_path / "tree.pftrace"
    random = Random(3)
    tree = random_tree(random, "t")
    while len(list(tree.placed())) < 5:
        tree = random_tree(random, "t")
    placed = list(tree.placed())
    write_streams(open_session(path, SESSION), {"s": [each.range for each in placed]})
    rows = [row for row in load(path).slices if row.category == "trees"]
    expected = expected_rows("s", placed)
    row = rows[-1]
    other: dict[str, object] = {
        "parent": "someone else",
        "depth": row.depth + 1,
        "dur": row.dur + 1,
        "args": {**row.args, "payload.number": float(str(row.args["payload.number"]))},
        "ts": row.ts + 1,
        "name": "another",
        "track": dataclasses.replace(row.track, path=(SESSION, "s2")),
    }
    found = [each.row() for each in rows]
    assert differences(found, expected) == []
    found[-1] = changed(row, **{field: other[field]})
    assert len(differences(found, expected)) == 2
