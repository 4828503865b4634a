# SPDX-License-Identifier: Apache-2.0
"""Runs a command with live recording and joins what its processes leave."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from .errors import JoinError, RecordingError
from .join import JoinResult, join
from .library import library_path
from .parts import Part, parts_of_output

_INJECTION = "NVTX_INJECTION64_PATH"
_CANNOT_RUN = 126
_NOT_FOUND = 127
# Sent to us alone, these are meant for the command. The terminal sends its own to both.
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_TERMINAL = (signal.SIGINT, signal.SIGQUIT)


@dataclass(frozen=True)
class RunOptions:
    """What to record and where: the options of ``nvtx-perfetto run``."""

    output: str = "nvtx-%p.pftrace"
    overwrite: bool = False
    force: bool = False
    domains: tuple[str, ...] = ()
    excluded_domains: tuple[str, ...] = ()


@dataclass
class RunResult:
    """The command's status as `waitpid` gives it, and the trace, if there is one."""

    status: int
    output: Path
    joined: JoinResult | None = None
    problems: list[str] = field(default_factory=list)


def run(command: Sequence[str], options: RunOptions) -> RunResult:
    """
    Run a command and its children with live recording, and join their parts.

    Parameters
    ----------
    command : sequence of str
        The program, looked up as a shell does, and its arguments.
    options : RunOptions
        Where to write and what to record.

    Returns
    -------
    RunResult
        The command's status and what was joined.

    Raises
    ------
    RecordingError
        If another tool is set, the output exists, or the command cannot be started.

    Notes
    -----
    The command keeps the terminal and its signals. To be called from the main thread.
    """
    _refuse_other_tool(options)
    go_read, go_write = os.pipe()
    failure_read, failure_write = os.pipe()
    child = os.fork()
    if child == 0:
        _become(command, options, go_read, go_write, failure_write)
    os.close(go_read)
    os.close(failure_write)
    output = Path(expand_output(options.output, child))
    problem = _existing(output, options)
    before = set(parts_of_output(output))
    with os.fdopen(go_write, "wb") as go:
        go.write(b"" if problem else b"go")
    with os.fdopen(failure_read, "rb") as pipe:
        failure = pipe.read().decode()
    status = _wait(child)
    if problem or failure:
        raise RecordingError(problem or failure)
    return _finish(RunResult(status, output), before, options)


def exit_like(status: int) -> int:
    """The exit status of a command, or its signal, raised here too."""
    if not os.WIFSIGNALED(status):
        return os.waitstatus_to_exitcode(status)
    number = os.WTERMSIG(status)
    sys.stdout.flush()
    sys.stderr.flush()
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number  # the signal is blocked


def expand_output(pattern: str, pid: int) -> str:
    """
    Make an output path absolute, with ``%p``, ``%h``, ``%q{VAR}`` and ``%%`` replaced.

    Unset variables are empty.
    """

    def value(match: re.Match[str]) -> str:
        key = match.group(0)
        if key == "%p":
            return str(pid)
        if key == "%h":
            return socket.gethostname()
        return "%" if key == "%%" else os.environ.get(match.group(1), "")

    return str(Path(re.sub(r"%p|%h|%%|%q\{([^}]*)\}", value, pattern)).absolute())


def _refuse_other_tool(options: RunOptions) -> None:
    other = os.environ.get(_INJECTION)
    if options.force or not other:
        return
    if os.path.realpath(other) != os.path.realpath(library_path()):
        raise RecordingError(
            f"{_INJECTION} names another tool ({other}); unset it, or replace it with --force"
        )


def _existing(output: Path, options: RunOptions) -> str:
    if output.exists() and not options.overwrite:
        return f"the output {output} exists already; choose another one (-o) or replace it (-f)"
    if not output.parent.is_dir():
        return f"the folder of {output} is not there; make it first"
    return ""


def _become(
    command: Sequence[str], options: RunOptions, go_read: int, go_write: int, failure: int
) -> None:
    """In the child: wait for the parent's word, then run the command. Never returns."""
    try:
        os.close(go_write)
        if os.read(go_read, 1):
            os.environ.update(_environment(options))
            os.execvp(command[0], list(command))
    except OSError as error:
        os.write(failure, f"{command[0]} cannot be started: {error.strerror}".encode())
        os._exit(_NOT_FOUND if isinstance(error, FileNotFoundError) else _CANNOT_RUN)
    finally:
        os._exit(_CANNOT_RUN)


def _environment(options: RunOptions) -> dict[str, str]:
    config = ["parts=only"]
    config += [f"domain={name}" for name in options.domains]
    config += [f"exclude_domain={name}" for name in options.excluded_domains]
    own = os.environ.get("NVTX_PERFETTO_CONFIG")
    output = expand_output(options.output, os.getpid())
    return {
        _INJECTION: str(library_path()),
        "NVTX_PERFETTO_OUTPUT": output.replace("%", "%%"),
        "NVTX_PERFETTO_CONFIG": "\n".join(config + ([own] if own else [])),
    }


def _wait(child: int) -> int:
    """Wait for the command; signals to us are passed on, those of the terminal are its own."""

    def forward(number: int, _frame: FrameType | None) -> None:
        os.kill(child, number)

    before = {number: signal.signal(number, forward) for number in _FORWARDED}
    before.update({number: signal.signal(number, signal.SIG_IGN) for number in _TERMINAL})
    try:
        return os.waitpid(child, 0)[1]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _finish(result: RunResult, before: set[Part], options: RunOptions) -> RunResult:
    parts = [part for part in parts_of_output(result.output) if part not in before]
    if not parts:
        return result
    try:
        joined = join([part.path for part in parts], result.output, overwrite=options.overwrite)
    except JoinError as error:
        result.problems.append(str(error))
        return result
    for path in joined.traces:
        Path(path).unlink()
    result.joined = joined
    return result
