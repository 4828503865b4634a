# SPDX-License-Identifier: Apache-2.0
"""Writer sessions that are killed: what was written and what was spilled is in the joined trace."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import numpy as np
import pytest
from nvtx_perfetto.join import JoinResult, join
from support import Trace, spill, victim
from support.comparison import differences
from support.survivors import (
    Row,
    Survivors,
    arrows,
    rows_of_async,
    rows_of_linked,
    rows_of_pairs,
    rows_of_ranges,
)

Load = Callable[[Path], Trace]
TESTS = Path(__file__).parents[1]
SUMMARY = "nvtx-perfetto summary"
SESSION = "killed"


@contextmanager
def victim_of(folder: Path, rounds: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start the program; it is dead behind the block."""
    page = folder / "page"
    page.write_bytes(bytes(victim.NOTES.size))
    arguments = map(str, (folder / "t.pftrace", page, rounds))
    command = [sys.executable, "-m", "support.victim", *arguments]
    with subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE) as program:
        try:
            yield program
        finally:
            program.kill()


def notes(folder: Path) -> tuple[int, int]:
    rounds, records = victim.NOTES.unpack((folder / "page").read_bytes())
    return rounds, records


def spill_of(folder: Path) -> Path:
    (found,) = folder.glob("t.pftrace.*.spill")
    return found


def rows_of(trace: Trace) -> list[Row]:
    return [row.row() for row in trace.slices if row.name != SUMMARY]


def on_stream(rows: list[Row], stream: str) -> list[Row]:
    return [row for row in rows if row[2] == (SESSION, stream)]


def closed_rows() -> list[Row]:
    """What the stream shows that was closed before any round."""
    numbers = np.random.default_rng(0).permutation(victim.CLOSED)
    rows = victim.nested(numbers)
    rows["name"], rows["number"] = numbers % len(victim.NAMES), numbers
    return rows_of_ranges("closed", rows)


def expected_rows(survivors: Survivors) -> list[Row]:
    """What the trace shows of spilled rows, and of those that were written at once."""
    return [
        *closed_rows(),
        *rows_of_ranges("shuffled", survivors.ranges("shuffled", victim.RANGE)),
        *rows_of_linked(survivors.ranges("linked", victim.LINK)),
        *rows_of_pairs("halves", survivors.halves()),
        *rows_of_async("starts", survivors.starts()),
    ]


def check_counters(trace: Trace, survivors: Survivors) -> None:
    """Compare values, and differences added up."""
    series = trace.series()
    levels, steps = survivors.samples("level"), survivors.samples("steps")
    assert series.get((SESSION, "counters", "level"), []) == levels
    sums = np.cumsum([value for _, value in steps]).tolist()
    times = [time for time, _ in steps]
    assert series.get((SESSION, "counters", "steps"), []) == list(zip(times, sums, strict=True))


def check_ordered(before: list[Row], after: list[Row], rounds: int) -> None:
    """Rows that passed straight through are as they were, from the first on."""
    assert before == after
    for number, row in enumerate(before):
        begin, dur = number * 10, 7
        assert row[6:8] == ("victim,odd" if number % 2 else "victim", begin)
        assert row[8] in (dur, -1 if number == len(before) - 1 else dur)
    chunk = 64 * 1024 // 16  # rows that wait for a write of 64 KiB, at 16 bytes or more
    assert len(before) > rounds * victim.ORDERED - chunk


def check_joined(joined: JoinResult, spilled: Path, survivors: Survivors) -> None:
    assert joined.recovered == ((survivors.count, str(spilled)),)
    assert joined.counts["killed_sessions"] == 1
    assert joined.counts["recovered_rows"] == survivors.count
    assert (joined.living, joined.problems) == ((), ())
    assert not spilled.exists()


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_whole_runs_and_written_rows_survive_a_kill_at_any_time(
    tmp_path: Path, load: Load, seed: int
) -> None:
    after = Random(seed).randrange(6, victim.MOST_ROUNDS - 2)
    with victim_of(tmp_path, victim.MOST_ROUNDS) as program:
        assert program.stdout is not None
        program.stdout.read(after)
    trace, spilled, out = tmp_path / "t.pftrace", spill_of(tmp_path), tmp_path / "joined"
    survivors = Survivors(spilled)
    rounds, records = notes(tmp_path)
    print(f"killed after {rounds} rounds, {survivors.count} records spilled")
    assert survivors.count >= records > 0
    written = on_stream(rows_of(load(trace)), "ordered")
    joined = join([trace], out)
    check_joined(joined, spilled, survivors)
    found = load(out)
    rows = rows_of(found)
    check_ordered(written, on_stream(rows, "ordered"), rounds)
    others = [row for row in rows if row[2] != (SESSION, "ordered")]
    assert differences(others, expected_rows(survivors)) == []
    flows = survivors.ranges("linked", victim.LINK)
    assert differences([flow.row() for flow in found.flows], arrows(flows)) == []
    check_counters(found, survivors)
    assert found.problems == {}


def test_an_exit_leaves_all_rows_and_no_spill_file(tmp_path: Path, load: Load) -> None:
    rounds = 8
    with victim_of(tmp_path, rounds) as program:
        assert program.stdout is not None
        program.stdout.read()
        assert program.wait() == 0
    assert notes(tmp_path)[1] > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page", "t.pftrace"]
    rows = rows_of(load(tmp_path / "t.pftrace"))
    for stream in ("ordered", "shuffled", "linked", "halves"):
        count: int = getattr(victim, stream.upper())
        assert len(on_stream(rows, stream)) == rounds * count


def size_at_end(spilled: Path) -> int | None:
    """How large the output was when the session began to end, and the spill file held the rest."""
    sizes = [block.subject for block in spill.blocks(spilled) if block.kind is spill.Kind.ENDING]
    return sizes[0] if sizes else None


def test_a_session_that_is_killed_while_it_ends_loses_nothing_and_doubles_nothing(
    tmp_path: Path, load: Load
) -> None:
    rounds = victim.MOST_ROUNDS
    with victim_of(tmp_path, rounds) as program:
        assert program.stdout is not None
        program.stdout.read(rounds)
        spilled = spill_of(tmp_path)
        while (size := size_at_end(spilled)) is None:
            assert program.poll() is None
        while (tmp_path / "t.pftrace").stat().st_size <= size:
            assert program.poll() is None
    survivors = Survivors(spilled)
    joined = join([tmp_path], tmp_path / "joined")
    check_joined(joined, spilled, survivors)
    found = load(tmp_path / "joined")
    ordered = victim.flat(np.arange(rounds * victim.ORDERED))
    ordered["name"] = np.arange(len(ordered)) % len(victim.NAMES)
    ordered["number"] = np.arange(len(ordered))
    rows = rows_of(found)
    assert differences(on_stream(rows, "ordered"), rows_of_ranges("ordered", ordered)) == []
    others = [row for row in rows if row[2] != (SESSION, "ordered")]
    assert differences(others, expected_rows(survivors)) == []
    streams = (("shuffled", victim.SHUFFLED), ("linked", victim.LINKED), ("halves", victim.HALVES))
    for stream, count in streams:
        assert len(on_stream(rows, stream)) == rounds * count
    assert len(survivors.samples("level")) == len(survivors.samples("steps"))
    assert len(survivors.samples("level")) == rounds * victim.SAMPLES
    check_counters(found, survivors)
    assert found.problems == {}


def test_a_full_disk_costs_the_runs_that_do_not_fit(tmp_path: Path, load: Load) -> None:
    with victim_of(tmp_path, victim.MOST_ROUNDS) as program:
        assert program.stdout is not None
        program.stdout.read(6)
        spilled = spill_of(tmp_path)
        limit = spilled.stat().st_size + 100_000
        resource.prlimit(program.pid, resource.RLIMIT_FSIZE, (limit, limit))
        program.stdout.read(4)
    survivors = Survivors(spilled)
    assert spilled.stat().st_size <= limit
    assert survivors.count > 0
    joined = join([tmp_path / "t.pftrace"], tmp_path / "joined")
    check_joined(joined, spilled, survivors)
    assert joined.counts["unreadable_runs"] > 0
    rows = [row for row in rows_of(load(tmp_path / "joined")) if row[2] != (SESSION, "ordered")]
    assert differences(rows, expected_rows(survivors)) == []


def test_a_living_session_is_joined_as_far_as_it_is_written_and_keeps_its_spill_file(
    tmp_path: Path,
) -> None:
    out = tmp_path / "joined"
    with victim_of(tmp_path, victim.MOST_ROUNDS) as program:
        assert program.stdout is not None
        program.stdout.read(6)
        joined = join([tmp_path / "t.pftrace"], out)
        assert (joined.living, joined.recovered) == ((program.pid,), ())
        assert spill_of(tmp_path).exists()
    again = join([tmp_path / "t.pftrace"], out, overwrite=True)
    assert (again.living, len(again.recovered)) == ((), 1)


def test_the_command_line_recovers_what_it_is_given_and_leaves_it_when_it_fails(
    tmp_path: Path,
) -> None:
    with victim_of(tmp_path, victim.MOST_ROUNDS) as program:
        assert program.stdout is not None
        program.stdout.read(6)
    spilled, out = spill_of(tmp_path), tmp_path / "joined"
    # As `join * -o joined` gives them: the trace and its spill file.
    inputs = [str(tmp_path / "t.pftrace"), str(spilled)]
    command = [sys.executable, "-m", "nvtx_perfetto", "join", *inputs, "-o", str(out)]
    out.write_bytes(b"something else")
    refused = subprocess.run(command, check=False, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "exists already" in refused.stderr
    assert spilled.exists()
    done = subprocess.run([*command, "-f"], check=False, capture_output=True, text=True)
    assert done.returncode == 3  # what was in memory is lost
    assert done.stderr.count(f"rows that a killed session had spilled were in {spilled}") == 1
    assert "killed_sessions: 1" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["joined", "page", "t.pftrace"]
