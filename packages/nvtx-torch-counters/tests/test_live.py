# SPDX-License-Identifier: Apache-2.0
"""Live counters as an NVTX tool receives them, through the real nvtx package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from compiled import library
from nvtx import CounterNoValueReason, TimestampType
from recordings import Recorded, counters

from scripts import printed, run

UNAVAILABLE = CounterNoValueReason.UNAVAILABLE.value
REALTIME = TimestampType.CPU_CLOCK_GETTIME_REALTIME.value

PARTS = """
    import json, os, threading
    import numpy as np, nvtx_schema as nvs
    from nvtx_torch_counters import CounterSampler, FunctionProbe, ProcessMemory, Unavailable
    def shown(sampler):
        return {n: {"name": s.name, "time": s.time.tolist(), "error": s.error.tolist(),
                    "gap": s.gap, "values": {f: v.tolist() for f, v in s.values.items()}}
                for n, s in ((n, sampler.samples(n)) for n in sampler.names)}
    size = nvs.value(np.int64, unit="bytes", min=0, max=1 << 40)
    share = nvs.value(np.float64, unit="percent", min=0.0, max=100.0)
"""


@pytest.fixture(scope="session")
def injection(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("injection")
    return str(library("recording_injection.c", folder / "librecording.so"))


def live(script: str, folder: Path, injection: str) -> tuple[Any, dict[str, Recorded]]:
    recording = folder / "recording.jsonl"
    recording.touch()
    environment = {"NVTX_INJECTION64_PATH": injection, "RECORDING_OUTPUT": str(recording)}
    output = printed(PARTS + script, folder, **environment)
    return json.loads(output), counters(recording)


GROUP = """
    rows = [(2**53 + 1, 12.5), (7, 100.0), (1 << 40, 0.0)]
    probe = FunctionProbe("memory", {"used": size, "share": share}, lambda: rows.pop(0))
    probe.description = "of the test"
    sampler = CounterSampler([probe], domain="counted")
    sampler.step(); sampler.step(); sampler.stop()
    print(json.dumps(shown(sampler)["memory"]))
"""


def test_a_group_arrives_with_names_units_limits_exact_values_and_stamps(
    tmp_path: Path, injection: str
) -> None:
    kept, tool = live(GROUP, tmp_path, injection)
    memory = tool["memory"]
    assert memory.time_domain == REALTIME
    assert memory.description == "of the test"
    used, share = memory.fields["used"], memory.fields["share"]
    assert (used["unit"], used["min"], used["max"]) == ("bytes", 0, 1 << 40)
    assert (share["unit"], share["min"], share["max"]) == ("percent", 0.0, 100.0)
    rows = [(2**53 + 1, 12.5), (7, 100.0), (1 << 40, 0.0)]
    assert memory.samples == list(zip(kept["time"], rows, strict=True))
    assert '"name": "counted"' in (tmp_path / "recording.jsonl").read_text()


GAPS = """
    left = [(1,), Unavailable("asleep"), Unavailable("asleep"), (2,), KeyError("lost"), (3,)]
    def read():
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer
    sampler = CounterSampler([FunctionProbe("p", {"n": size}, read)])
    for _ in range(5):
        sampler.step()
    sampler.stop()
    print(json.dumps(shown(sampler)["p"]))
"""


def test_a_gap_arrives_as_a_gap_in_its_place(tmp_path: Path, injection: str) -> None:
    kept, tool = live(GAPS, tmp_path, injection)
    times, rows = zip(*tool["p"].samples, strict=True)
    assert list(rows) == [(1,), UNAVAILABLE, (2,), UNAVAILABLE]
    assert [why for why in kept["gap"] if why] == ["asleep", "stopped: KeyError: 'lost'"]
    assert (times[0], times[2]) == (kept["time"][0], kept["time"][2])
    for at in (1, 3):  # the tool stamps a gap itself, once the read has ended
        assert times[at] >= kept["time"][at] - kept["error"][at]
    assert times[1] <= times[2]


REPEATED = """
    from nvtx import CounterNoValueReason as Reason
    left = [Reason.UNCHANGED, (5,), Reason.UNCHANGED, Reason.UNAVAILABLE, Reason.UNCHANGED,
            Reason.ZERO, Reason.UNCHANGED, (6,), (7,)]
    sampler = CounterSampler([FunctionProbe("p", {"n": size}, lambda: left.pop(0))])
    for _ in range(8):
        sampler.step()
    sampler.stop()
    print(json.dumps(shown(sampler)["p"]))
"""


def test_zeros_and_repeated_values_arrive_as_values_at_their_own_times(
    tmp_path: Path, injection: str
) -> None:
    kept, tool = live(REPEATED, tmp_path, injection)
    times, rows = zip(*tool["p"].samples, strict=True)
    gap = UNAVAILABLE
    assert list(rows) == [gap, (5,), (5,), gap, (5,), (0,), (0,), (6,), (7,)]
    own = [at for at, row in enumerate(rows) if row != gap]
    assert [times[at] for at in own] == [kept["time"][at] for at in own]


BACKGROUND = """
    seen, reads = threading.Event(), []
    def read():
        reads.append(1)
        if len(reads) == 600:
            seen.set()
        return (len(reads),)
    with CounterSampler([FunctionProbe("p", {"n": size}, read)], interval=0.001) as sampler:
        assert seen.wait(60)
    print(json.dumps(shown(sampler)["p"]))
"""


def test_samples_go_out_in_batches_and_all_of_them(tmp_path: Path, injection: str) -> None:
    kept, tool = live(BACKGROUND, tmp_path, injection)
    assert [row for _, row in tool["p"].samples] == [(n,) for n in kept["values"]["n"]]
    assert [time for time, _ in tool["p"].samples] == kept["time"]
    assert tool["p"].batches < len(kept["time"]) / 20


TWICE = """
    def counting():
        return FunctionProbe("p", {"n": size}, lambda: (1,))
    with CounterSampler([counting()], interval=3600) as first:
        with CounterSampler([counting()], interval=3600) as second:
            pass
    with CounterSampler([counting()], interval=3600, domain=None):
        pass
    print(json.dumps([shown(first), shown(second)]))
"""


def test_a_second_sampler_has_counters_of_its_own_and_no_domain_means_none(
    tmp_path: Path, injection: str
) -> None:
    _, tool = live(TWICE, tmp_path, injection)
    assert {name: len(counter.samples) for name, counter in tool.items()} == {"p": 2, "p#2": 2}


AGAIN = """
    rows = [(n,) for n in range(4)]
    sampler = CounterSampler([FunctionProbe("p", {"n": size}, lambda: rows.pop(0))], interval=3600)
    for _ in range(2):
        with sampler:
            pass
    print(json.dumps(shown(sampler)["p"]))
"""


def test_a_second_run_sends_only_what_is_new(tmp_path: Path, injection: str) -> None:
    kept, tool = live(AGAIN, tmp_path, injection)
    values = [row for _, row in tool["p"].samples if row != UNAVAILABLE]
    assert values == [(0,), (1,), (2,), (3,)]
    assert [row for _, row in tool["p"].samples].count(UNAVAILABLE) == 1
    assert kept["gap"].count("the sampler was stopped") == 1


FORKED = """
    with CounterSampler([ProcessMemory()], interval=3600) as sampler:
        child = os.fork()
        if child == 0:
            os.environ["RECORDING_OUTPUT"] = "unused"
            with sampler:
                pass
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    print(json.dumps(shown(sampler)["process memory"]["time"]))
"""


def test_a_forked_child_sends_its_own_samples_and_none_of_the_parents(
    tmp_path: Path, injection: str
) -> None:
    kept, tool = live(FORKED, tmp_path, injection)
    times = [time for time, _ in tool["process memory"].samples]
    assert len(times) == len(set(times)) == 4
    assert set(kept) <= set(times)


def test_an_error_in_the_program_still_sends_what_was_sampled(
    tmp_path: Path, injection: str
) -> None:
    recording = tmp_path / "recording.jsonl"
    script = (
        PARTS
        + """
    CounterSampler([ProcessMemory()], interval=3600).start()
    raise ValueError
    """
    )
    environment = {"NVTX_INJECTION64_PATH": injection, "RECORDING_OUTPUT": str(recording)}
    assert run(script, tmp_path, **environment).returncode == 1
    assert len(counters(recording)["process memory"].samples) == 2
