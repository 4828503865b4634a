# SPDX-License-Identifier: Apache-2.0
"""What the tests share: a clock that only they move, and a check that nothing is left behind."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest
from fake_clock import FakeClock


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
