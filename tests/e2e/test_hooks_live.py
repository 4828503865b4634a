# SPDX-License-Identifier: Apache-2.0
"""What patched models show comes back from the live trace: every case of the package's own tests.

Those tests say in place which ranges a case shows, and that it computes as bare; they read the
ranges back by an injection of their own, which here passes every call on to ours, and leaves a log.
So the rows of the trace must be those of the log.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from support import Slice, Trace
from support.live import record, record_script

Load = Callable[[Path], Trace]
Rows = dict[tuple[object, ...], list[tuple[object, ...]]]

CASES = Path(__file__).parents[2] / "packages" / "nvtx-hooks" / "tests"
SLOW = ("test_compile.py", "test_parallel.py")


def _logged(folder: Path) -> Rows:
    """The rows of each process and thread, as the calls of NVTX have them."""
    rows: Rows = defaultdict(list)
    for log in folder.glob("*.jsonl"):
        stacks: dict[object, list[str]] = defaultdict(list)
        for line in log.read_text().splitlines():
            event = json.loads(line)
            stack = stacks[event["thread"], event["domain"]]
            if event["kind"] == "pop":
                stack.pop()
                continue
            shown = (event["domain"], event["category"], event["message"])
            parent = stack[-1] if stack else None
            place = (int(log.stem), event["thread"])
            look = (event["color"], event["payload"])
            rows[place].append((*shown, len(stack), parent, *look))
            if event["kind"] == "push":
                stack.append(event["message"])
        assert not any(stacks.values()), stacks
    return rows


def _traced(slices: Iterable[Slice]) -> Rows:
    """The same rows, as the trace processor has them."""
    rows: Rows = defaultdict(list)
    for row in sorted(slices, key=lambda each: (each.ts, each.depth)):
        assert row.dur >= 0, row
        assert row.track.process is not None
        assert row.track.thread is not None
        domain = (row.track.name or "").rpartition(" (")[0]
        first, _, category = (row.category or "").partition(",")
        assert first == (domain or "NVTX")
        color = int(str(row.args.get("nvtx_color", "#FF"))[1:], 16)
        place = (row.track.process[0], row.track.thread[0])
        shown = (domain, category or None, row.name)
        rows[place].append((*shown, row.depth, row.parent, color, _payload(row)))
    return rows


def _payload(row: Slice) -> dict[str, Any]:
    payload: dict[str, Any] = {}
    for key, value in row.args.items():
        name, _, index = key.removeprefix("payload.").partition("[")
        if index:
            payload.setdefault(name, []).append(value)
        elif key.startswith("payload."):
            payload[name] = value
    return payload


def _without_summary(trace: Trace) -> list[Slice]:
    summaries = [row for row in trace.slices if row.name == "nvtx-perfetto summary"]
    assert {key for row in summaries for key in row.args} == {"summary.events"}
    return [row for row in trace.slices if row.name != "nvtx-perfetto summary"]


@pytest.mark.parametrize("cases", ["test_compile.py", "test_parallel.py", "all others"])
def test_the_rows_of_every_case_are_those_that_the_case_expects(
    cases: str, tmp_path: Path, load: Load
) -> None:
    log = tmp_path / "log"
    log.mkdir()
    chosen = [CASES / cases] if cases in SLOW else [CASES, *(f"--ignore={CASES / s}" for s in SLOW)]
    pytest_run = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *chosen)
    done = record(tmp_path, "env", f"RECORDING_LOG={log}", *pytest_run)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"[1-9]\d* passed", done.stdout)
    trace = load(tmp_path / "trace.pftrace")
    assert trace.problems == {}
    logged, traced = _logged(log), _traced(_without_summary(trace))
    assert set(traced) == set(logged)
    for place, rows in logged.items():
        assert traced[place] == rows, place


TRAINING = """
import copy, sys, threading, torch, nvtx_hooks
from torch import nn
from torch.utils.checkpoint import checkpoint

class Checkpointed(nn.Sequential):
    def forward(self, x):
        return checkpoint(super().forward, x, use_reentrant=False)

def step(model, errors):
    x = torch.linspace(-1, 1, 8).reshape(2, 4).requires_grad_()
    seen = [x]
    try:
        seen.append(model(x))
        seen[1].sum().backward()
    except ArithmeticError as error:
        errors.append(error)
    return [*(t.detach() for t in seen), *(t.grad for t in (x, *model.parameters()))]

def same(one, other):
    return one is other if one is None else torch.equal(one, other)

def compare(bare, fail=lambda model: None):
    bare = copy.deepcopy(bare)
    model = nvtx_hooks.patch(copy.deepcopy(bare), recompute="mark")
    errors = []
    for each in (bare, model):
        fail(each)
    one, other = step(bare, errors), step(model, errors)
    assert len(one) == len(other) and all(map(same, one, other))
    return len(errors)

def raising(*_):
    raise ArithmeticError

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), Checkpointed(nn.Linear(4, 4), nn.ReLU(inplace=True)))
"""


# A step of that model.
FORWARD = [
    "forward Sequential",
    "  forward 0: Linear",
    "  forward 1: Checkpointed",
    "    forward 1.0: Linear",
    "    forward 1.1: ReLU",
]
BACKWARD = [
    "backward Sequential",
    "  backward 1: Checkpointed",
    "    backward 1.1: ReLU",
    "      recompute 1.0: Linear [recompute]",
    "      recompute 1.1: ReLU [recompute]",
    "    backward 1.0: Linear",
    "  backward 0: Linear",
]


def _tree(rows: Iterable[tuple[object, ...]]) -> list[str]:
    """One line a row, as far in as it is deep; its parent must be the row above that is less so."""
    lines: list[str] = []
    above: list[object] = []
    for domain, category, name, depth, parent, *_ in rows:
        assert domain == "torch.nn"
        assert isinstance(depth, int)
        del above[depth:]
        assert parent == (above[-1] if above else None)
        above.append(name)
        lines.append(f"{'  ' * depth}{category} {name}")
    return lines


def test_a_checkpointed_training_step_reads_as_it_was_written(tmp_path: Path, load: Load) -> None:
    trace = load(record_script(tmp_path, TRAINING + "assert compare(net) == 0\n"))
    (rows,) = _traced(_without_summary(trace)).values()
    assert _tree(rows) == [*FORWARD, *BACKWARD]


FAILING = """
assert compare(net, lambda net: net[1][1].register_forward_pre_hook(raising)) == 2
def late():
    assert compare(net, lambda net: net[0].weight.register_hook(raising)) == 2
    assert compare(nn.Linear(4, 4)) == 0
thread = threading.Thread(target=late); thread.start(); thread.join()
"""


def test_what_raises_forward_or_backward_closes_its_ranges(tmp_path: Path, load: Load) -> None:
    trace = load(record_script(tmp_path, TRAINING + FAILING))
    main, thread = _traced(_without_summary(trace)).values()
    assert _tree(main) == FORWARD
    assert _tree(thread) == [*FORWARD, *BACKWARD, "forward Linear", "backward Linear"]
