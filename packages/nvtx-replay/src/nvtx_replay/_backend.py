# SPDX-License-Identifier: Apache-2.0
"""Which backend writes a session: by argument, by variable, by the output's suffix."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nvtx.writer

from nvtx_replay._config import ConfigValue, config_text
from nvtx_replay.errors import BackendError, BackendNotFoundError, ConfigError

ANY_VARIABLE = "NVTXW3_LIBRARY"
NSYS_VARIABLE = "NSYS_WRITER_BACKEND"
NSYS_SUFFIX = ".nsys-rep"


@dataclass(frozen=True)
class Target:
    """What a session is to be written to, as the caller put it."""

    path: Path
    name: str | None
    config: Mapping[str, ConfigValue]
    overwrite: bool

    @property
    def nsys_name(self) -> str:
        """The session's name as Nsight Systems wants it: the output without its suffix."""
        text = os.fspath(self.path)
        return text[: -len(NSYS_SUFFIX)] if text.endswith(NSYS_SUFFIX) else text


@dataclass(frozen=True)
class RawSession:
    """A session of ``nvtx.writer``, not begun, and how its backend explains failures."""

    raw: Any
    backend: str
    last_error: Callable[[], str]
    plain_streams: bool = False  # whether create_stream takes no ordering and no skid

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Turn the writer's error codes into errors that carry the backend's own words."""
        try:
            yield
        except nvtx.writer.WriterError as error:
            raise self.explain(error) from error

    def explain(self, error: nvtx.writer.WriterError) -> BackendError:
        """Return an error of the writer with the backend's own words."""
        operation = error.operation or "backend call"
        words = self.last_error().strip()
        detail = words or f"{error} (backend: {self.backend})"
        return BackendError(operation, detail, error.result_code)


def choose(target: Target, backend: Any) -> RawSession:
    """Return the raw session for ``target``; see :func:`nvtx_replay.open_session`."""
    if isinstance(backend, nvtx.writer.Backend):
        return _session(target, backend, "the nvtx.writer.Backend passed as backend=")
    if backend is not None:
        return _load(target, backend, "the backend= argument")
    variable = os.environ.get(ANY_VARIABLE)
    if variable:
        return _load(target, variable, f"the environment variable {ANY_VARIABLE}")
    if target.path.name.endswith(NSYS_SUFFIX):
        return _nsys(target)
    return _perfetto(target)


def _nsys(target: Target) -> RawSession:
    """Use Nsight Systems' Python package, or its library alone if only that is named."""
    try:
        module = importlib.import_module("nsys_writer")
    except ModuleNotFoundError as error:
        if error.name != "nsys_writer":
            raise
        library = os.environ.get(NSYS_VARIABLE)
        if library:
            _refuse_merging(target)
            return _load(target, library, f"the environment variable {NSYS_VARIABLE}")
        raise BackendNotFoundError(
            f"no backend for {target.path}: tried the backend= argument (not given), the "
            f"environment variables {ANY_VARIABLE} and {NSYS_VARIABLE} (not set) and the Python "
            "package nsys_writer (not installed). Install nsys_writer from the Nsight Systems "
            f"folder and set {NSYS_VARIABLE} to its writer library, or name the output "
            "something.pftrace for a Perfetto trace"
        ) from None
    try:
        raw = module.Session(target.name or target.nsys_name, **target.config)
    except (OSError, RuntimeError, nvtx.writer.WriterError) as error:
        raise BackendNotFoundError(
            f"nsys_writer could not open its backend: {error}. Set {NSYS_VARIABLE} to the writer "
            f"library of Nsight Systems (now {os.environ.get(NSYS_VARIABLE)!r})"
        ) from error
    return RawSession(raw, "nsys_writer", _no_words, plain_streams=True)


def _refuse_merging(target: Target) -> None:
    for key in ("report_merge", "time_base"):
        if key in target.config:
            raise ConfigError(
                f"config key {key!r} needs the Python package nsys_writer, which is not installed"
            )


def _perfetto(target: Target) -> RawSession:
    try:
        module = importlib.import_module("nvtx_perfetto")
    except ModuleNotFoundError as error:
        if error.name != "nvtx_perfetto":
            raise
        raise BackendNotFoundError(
            f"no backend for {target.path}: tried the backend= argument (not given), the "
            f"environment variable {ANY_VARIABLE} (not set) and the Python package nvtx_perfetto "
            f"(not installed; it exists for Linux, this is {sys.platform}). Install nvtx-perfetto, "
            "or pass backend= the path of an NVTXW library"
        ) from None
    return _load(target, module.library_path(), "nvtx_perfetto.library_path()")


def _load(target: Target, library: Any, source: str) -> RawSession:
    path = Path(os.fsdecode(library)).expanduser()
    try:
        backend = nvtx.writer.load_backend(path)
    except (OSError, nvtx.writer.WriterError) as error:
        raise BackendNotFoundError(
            f"the backend {str(path)!r}, named by {source}, cannot be loaded: {error}. Expected a "
            "shared library that offers version 2 of the NVTX writer interface"
        ) from error
    return _session(target, backend, str(path), _words_of(path))


def _session(
    target: Target, backend: Any, label: str, last_error: Callable[[], str] | None = None
) -> RawSession:
    # Nsight Systems names its report after the session; other backends read the output key.
    nsys = target.path.name.endswith(NSYS_SUFFIX)
    name = target.name or (target.nsys_name if nsys else target.path.stem)
    text = config_text(target.path, target.config, overwrite=target.overwrite)
    raw = nvtx.writer.Session(name, backend=backend, config=text)
    return RawSession(raw, label, last_error or _no_words)


def _words_of(path: Path) -> Callable[[], str]:
    """Return the reader of a library's last error text, where it is known to have one."""
    try:
        module = importlib.import_module("nvtx_perfetto")
        ours = Path(module.library_path()).samefile(path)
    except (ImportError, OSError):
        return _no_words
    return (lambda: str(module.last_error() or "")) if ours else _no_words


def _no_words() -> str:
    return ""
