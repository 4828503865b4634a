# SPDX-License-Identifier: Apache-2.0
"""A session's options as the text that backends read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from nvtx_replay.errors import ConfigError

ConfigValue: TypeAlias = "str | int | bool | os.PathLike[str]"

# The writer's header reserves these between entries; there is no way to escape them.
_DELIMITERS = "\r\n|\0"


def config_text(path: Path, config: Mapping[str, ConfigValue], *, overwrite: bool) -> str:
    """Return ``key=value`` lines: the caller's keys, then output and overwrite.

    The caller's come first because backends take the first of two equal keys.
    """
    entries: dict[str, ConfigValue] = dict(config)
    entries.setdefault("output", path)
    entries.setdefault("overwrite", overwrite)
    return "\n".join(f"{_key(key)}={_value(key, value)}" for key, value in entries.items())


def _key(key: str) -> str:
    if not key or any(sign in key for sign in _DELIMITERS + "="):
        raise ConfigError(f"config key {key!r} is empty or holds '=', '|' or a line break")
    return key


def _value(key: str, value: ConfigValue) -> str:
    text = (
        str(int(value))
        if isinstance(value, bool)
        else os.fspath(value)
        if isinstance(value, os.PathLike)
        else str(value)
    )
    if any(sign in text for sign in _DELIMITERS):
        raise ConfigError(
            f"config value {key}={text!r} holds '|', NUL or a line break, which separate entries; "
            "use another path or value"
        )
    return text
