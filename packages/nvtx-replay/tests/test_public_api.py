# SPDX-License-Identifier: Apache-2.0
"""What the package offers, and that nothing of nvtx.writer is missing."""

import inspect

import nvtx.writer
import nvtx_replay
import pytest


def test_exported_names_are_pinned():
    assert nvtx_replay.__all__ == [
        "BackendError",
        "BackendNotFoundError",
        "Batch",
        "ConfigError",
        "ReplayError",
        "Report",
        "RowError",
        "Session",
        "Stream",
        "StreamError",
        "TableError",
        "__version__",
        "open_session",
    ]
    assert all(hasattr(nvtx_replay, name) for name in nvtx_replay.__all__)


@pytest.mark.parametrize("ours", [nvtx_replay.Session, nvtx_replay.Stream])
def test_every_method_of_the_raw_class_is_there_with_its_parameters(ours):
    raw = getattr(nvtx.writer, ours.__name__)
    for name in (name for name in dir(raw) if not name.startswith("_")):
        theirs = inspect.signature(getattr(raw, name)).parameters
        mine = inspect.signature(getattr(ours, name)).parameters
        takes_all = any(p.kind is p.VAR_KEYWORD for p in mine.values())
        assert takes_all or list(theirs) == list(mine), f"{ours.__name__}.{name}"


def test_errors_have_one_root():
    errors = [getattr(nvtx_replay, name) for name in nvtx_replay.__all__ if name.endswith("Error")]
    assert all(issubclass(error, nvtx_replay.ReplayError) for error in errors)
