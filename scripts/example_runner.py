# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin that runs the ```python blocks of Markdown pages as tests.

Blocks of one page share their names, as a reader would expect, and run in an empty folder of
their own. A block that must not run is fenced ```py instead, and says why beside it.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

_ROOT = Path(__file__).resolve().parent.parent


def _enter(namespace: dict[str, Any]) -> None:
    namespace["_folder"] = tempfile.TemporaryDirectory()
    namespace["_before"] = Path.cwd()
    os.chdir(namespace["_folder"].name)


def _leave(namespace: dict[str, Any]) -> None:
    os.chdir(namespace.pop("_before"))
    namespace.pop("_folder").cleanup()


pytest_collect_file = Sybil(
    path=str(_ROOT),
    parsers=[PythonCodeBlockParser()],
    patterns=["*.md"],
    setup=_enter,
    teardown=_leave,
).pytest()
