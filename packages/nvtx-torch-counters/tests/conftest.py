# SPDX-License-Identifier: Apache-2.0
"""What the tests share: a clock that only they move, and a check that nothing is left behind."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest
from compiled import library
from fake_clock import FakeClock
from nvml_script import NvmlScript
from nvtx_torch_counters import _binding


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    threads = set(threading.enumerate())
    environment = dict(os.environ)
    yield
    assert set(threading.enumerate()) <= threads
    changed = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
    environment.pop("PYTEST_CURRENT_TEST", None)
    assert changed == environment


@pytest.fixture(scope="session")
def fake(tmp_path_factory: pytest.TempPathFactory) -> NvmlScript:
    pytest.importorskip("pynvml", reason="nvidia-ml-py is not installed")
    target = tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1"
    return NvmlScript(library("fake_nvml.c", target, "-Wl,-soname,libnvidia-ml.so.1"))


@pytest.fixture
def nvml(fake: NvmlScript, monkeypatch: pytest.MonkeyPatch) -> Iterator[NvmlScript]:
    fake.reset()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(_binding._Process, "pid", 0)
    yield fake
    fake.reset()
