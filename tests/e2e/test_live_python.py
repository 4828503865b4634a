# SPDX-License-Identifier: Apache-2.0
"""What the nvtx package says live comes back row by row, as the program's own log has it."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

from support import Slice, Trace
from support.live import record, record_script

Load = Callable[[Path], Trace]

RANGES = """
import json, threading, nvtx
log = []
def note(thread, domain, depth, parent, name, category):
    log.append([thread, domain, depth, parent, name, category])

trainer, other = nvtx.get_domain("trainer"), nvtx.get_domain("a,b")
def work(thread):
    with nvtx.annotate("default outer"):
        note(thread, "", 0, None, "default outer", "NVTX")
        for i in range(3):
            with nvtx.annotate(f"step {i}", domain="trainer", category="forward"):
                note(thread, "trainer", 0, None, f"step {i}", "trainer,forward")
                trainer.push_range(message="inner", category=77)
                note(thread, "trainer", 1, f"step {i}", "inner", "trainer,category 77")
                nvtx.mark("tick", domain="a,b", category="c,d")
                note(thread, "a,b", 0, None, "tick", "a;b,c;d")
                trainer.pop_range()
        with nvtx.annotate("ünïcode ☃"):
            note(thread, "", 1, "default outer", "ünïcode ☃", "NVTX")

@nvtx.annotate(domain="decorated")
def decorated():
    note("main", "decorated", 0, None, "decorated", "decorated")

work("main")
decorated()
workers = [threading.Thread(target=work, args=(f"worker {i}",)) for i in range(3)]
for worker in workers: worker.start()
for worker in workers: worker.join()
json.dump(log, open("log.json", "w"))
"""


def described(rows: list[Slice]) -> list[tuple[object, ...]]:
    """Thread, domain, depth, parent, name and category; threads numbered as they first appear."""
    found: list[tuple[object, ...]] = []
    for row in rows:
        shown = row.track.path[-1]
        assert row.track.thread is not None
        domain = shown.rpartition(" (")[0] if shown.endswith(")") else ""
        found.append((row.track.thread[0], domain, row.depth, row.parent, row.name, row.category))
    return found


def without_summary(trace: Trace) -> list[Slice]:
    return [row for row in trace.slices if row.name != "nvtx-perfetto summary"]


def test_ranges_and_marks_of_all_threads_equal_the_programs_log(tmp_path: Path, load: Load) -> None:
    trace = load(record_script(tmp_path, RANGES))
    log = json.loads((tmp_path / "log.json").read_text())
    by_thread: dict[object, list[tuple[object, ...]]] = {}
    for tid, *rest in described(without_summary(trace)):
        by_thread.setdefault(tid, []).append(tuple(rest))
    logged: dict[object, list[tuple[object, ...]]] = {}
    for thread, *rest in log:
        logged.setdefault(thread, []).append(tuple(rest))
    key = repr
    found = sorted((sorted(rows, key=key) for rows in by_thread.values()), key=repr)
    expected = sorted((sorted(rows, key=key) for rows in logged.values()), key=repr)
    assert found == expected
    assert all(row.dur >= 0 for row in without_summary(trace))
    assert trace.problems == {}


PAYLOADS = """
import numpy as np, nvtx
d = nvtx.get_domain("payloads")
pair = np.dtype([("a", np.int32), ("b", np.float64)])
nested = np.dtype([("id", np.uint16), ("pair", pair), ("text", "U4"), ("raw", "S3")])
def mark(name, value): d.mark(message=name, payload=value)
mark("int", 5)
mark("negative", -(2**62))
mark("float", 2.5)
mark("list", [1, 2, 3])
mark("bytes", b"abc")
mark("scalar", np.array(7, dtype=np.uint8))
mark("struct", np.array((1, 2.5), dtype=pair))
mark("structs", np.array([(1, 2.5), (3, -1.0)], dtype=pair))
mark("nested", np.array((9, (1, 2.5), "hiÿ", b"xy"), dtype=nested))
mark("long", np.arange(100, dtype=np.int64))
with nvtx.annotate("colored", color=0xFF00FF00, payload=1): pass
nvtx.mark("plain")
"""


def test_payloads_of_every_kind_become_typed_arguments(tmp_path: Path, load: Load) -> None:
    trace = load(record_script(tmp_path, PAYLOADS))
    args = {row.name: row.args for row in without_summary(trace)}
    assert args["int"] == {"payload": 5}
    assert args["negative"] == {"payload": -(2**62)}
    assert args["float"] == {"payload": 2.5}
    assert args["list"] == {
        "payload.size": 3,
        **{f"payload.data[{i}]": i + 1 for i in range(3)},
    }
    assert args["bytes"] == {"payload": "abc"}
    assert args["scalar"] == {"payload": 7}
    assert args["struct"] == {"payload.a": 1, "payload.b": 2.5}
    assert args["structs"] == {
        "payload.size": 2,
        "payload.data[0].a": 1,
        "payload.data[0].b": 2.5,
        "payload.data[1].a": 3,
        "payload.data[1].b": -1.0,
    }
    assert args["nested"] == {
        "payload.id": 9,
        "payload.pair.a": 1,
        "payload.pair.b": 2.5,
        "payload.text": "hiÿ",
        "payload.raw": "xy",
    }
    assert args["long"]["payload.size"] == 100
    assert args["long"]["payload.data[63]"] == 63
    assert "payload.data[64]" not in args["long"]
    assert args["colored"] == {"payload": 1, "nvtx_color": "#FF00FF00"}
    assert args["plain"] == {}


COUNTERS = """
import json, nvtx
d = nvtx.get_domain("counts")
t = nvtx.CounterValueType
loss = d.get_counter("loss", float, semantics=nvtx.CounterSemantics(unit="nats"))
for v in (1.5, 0.25): loss.sample(v)
loss.sample_no_value(nvtx.CounterNoValueReason.UNAVAILABLE)
loss.sample_no_value(nvtx.CounterNoValueReason.UNCHANGED)
loss.sample_no_value(nvtx.CounterNoValueReason.ZERO)
sent = d.get_counter("sent", int, semantics=nvtx.CounterSemantics(value_type=t.DELTA))
for v in (5, -2, 10): sent.sample(v)
group = nvtx.numpy_dtype([("allocated", int), ("free", float)])
memory = d.get_counter("memory", group, scope="node[1]/gpu 0", description="of the device")
memory.sample((10, 0.5))
times = [d.get_timestamp() for _ in range(2)]
memory.batch_submit([(11, 1.5), (12, 2.5)], times)
json.dump(times, open("log.json", "w"))
"""


def test_counters_deltas_gaps_groups_and_batches_come_back_exactly(
    tmp_path: Path, load: Load
) -> None:
    trace = load(record_script(tmp_path, COUNTERS))
    series = {path[-1]: [value for _, value in rows] for path, rows in trace.series().items()}
    assert series["loss"] == [1.5, 0.25, None, 0.25, 0]
    assert series["sent"] == [5, 3, 13]
    assert series["memory.allocated"] == [10, 11, 12]
    assert series["memory.free"] == [0.5, 1.5, 2.5]
    batch = [s for s in trace.counters if s.track.name == "memory.free"][1:]
    assert [s.ts for s in batch] == json.loads((tmp_path / "log.json").read_text())
    tracks = {s.track.name: s.track for s in trace.counters}
    assert tracks["loss"].unit == "nats"
    assert tracks["memory.free"].path[-3:] == ("node[1]", "gpu 0", "memory.free")
    assert tracks["memory.free"].description == "of the device"
    assert not any(isinstance(s.value, float) and math.isnan(s.value) for s in trace.counters)


LARGE_COUNTER = """
import nvtx
large = nvtx.get_domain("counts").get_counter("large", int)
for value in (2**53, -2**53, 2**53 + 1, -2**53 - 3): large.sample(value)
"""


def test_values_that_the_engine_rounds_are_counted(tmp_path: Path, load: Load) -> None:
    trace = load(record_script(tmp_path, LARGE_COUNTER))
    ((_, rows),) = trace.series().items()
    assert [value for _, value in rows] == [2**53, -(2**53), 2**53, -(2**53) - 4]
    assert trace.named("nvtx-perfetto summary").args["summary.rounded_counters"] == 2


ASYNC = """
import threading, nvtx
d = nvtx.get_domain("requests")
first, second = d.start_range(message="first"), d.start_range(message="second")
d.end_range(first)
other = threading.Thread(target=d.end_range, args=(second,)); other.start(); other.join()
third = d.start_range(message="third")
d.end_range(third); d.end_range(third); d.end_range(123456789)
d.pop_range()
"""


def test_start_end_ranges_cross_on_lanes_and_end_in_any_thread(tmp_path: Path, load: Load) -> None:
    trace = load(record_script(tmp_path, ASYNC))
    rows = {row.name: row for row in without_summary(trace)}
    assert {row.track.name for row in rows.values()} == {"requests start/end ranges"}
    assert rows["second"].ts < rows["first"].ts + rows["first"].dur
    assert rows["second"].dur > rows["first"].dur
    assert all(row.dur > 0 and row.depth == 0 for row in rows.values())
    summary = trace.named("nvtx-perfetto summary").args
    assert summary == {
        "summary.events": 3,
        "summary.unmatched_ends": 2,
        "summary.unmatched_pops": 1,
    }


FILTERED = """
import nvtx
assert type(nvtx.get_domain("noise")).__name__ == "DummyDomain"
assert type(nvtx.get_domain("signal")).__name__ == "Domain"
for domain in ("noise", "signal", None): nvtx.mark(f"in {domain}", domain=domain)
"""


def test_excluded_domains_are_disabled_and_leave_nothing(tmp_path: Path, load: Load) -> None:
    script = tmp_path / "program.py"
    script.write_text(FILTERED)
    options = ("--exclude-domain", "noise", "--exclude-domain", "default")
    done = record(tmp_path, sys.executable, script, options=options)
    assert done.returncode == 0, done.stderr
    trace = load(tmp_path / "trace.pftrace")
    assert [row.name for row in without_summary(trace)] == ["in signal"]
