# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
import time

import pytest
from nvtx_torch_counters._clock import Clock

HOUR = 3_600_000_000_000


def test_a_long_wait_ends_when_the_gate_opens() -> None:
    assert Clock().wait(threading.Lock(), time.monotonic_ns() + HOUR)


@pytest.mark.parametrize("left", [-HOUR, 1_000_000])
@pytest.mark.parametrize("stopped", [False, True])
def test_a_short_wait_tells_at_its_end_whether_the_gate_is_open(left: int, stopped: bool) -> None:
    gate = threading.Lock()
    if not stopped:
        gate.acquire()
    deadline = time.monotonic_ns() + left
    assert Clock().wait(gate, deadline) is stopped
    assert time.monotonic_ns() >= deadline
