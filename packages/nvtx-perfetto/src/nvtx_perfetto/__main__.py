# SPDX-License-Identifier: Apache-2.0
"""The command line: ``nvtx-perfetto run``, ``join`` and ``check``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import __version__
from .check import check
from .errors import PerfettoError
from .join import JoinResult, join
from .run import RunOptions, RunResult, exit_like, run

_REFUSED = 1
_USAGE = 2
_LOSSES = 3
_LOST = ("dropped_ranges", "killed_sessions")


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name; those of the process by default.

    Returns
    -------
    int
        0 done; 1 refused; 2 wrong usage; 3 done, with losses; that of the command for ``run``.
    """
    options = _parser().parse_args(arguments)
    try:
        return int(options.action(options))
    except PerfettoError as error:
        _say(str(error))
        return _REFUSED


def _run(options: argparse.Namespace) -> int:
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        _say("name the command to run after `--`")
        return _USAGE
    chosen = RunOptions(
        output=options.output,
        overwrite=options.overwrite,
        force=options.force,
        domains=tuple(options.domain),
        excluded_domains=tuple(options.exclude_domain),
    )
    result = run(command, chosen)
    _tell_run(result)
    return exit_like(result.status)


def _join(options: argparse.Namespace) -> int:
    joined = join(options.inputs, options.output, overwrite=options.overwrite)
    _tell(joined, options.output)
    lost = joined.cuts or joined.problems or joined.living
    return _LOSSES if lost or any(joined.counts.get(kind) for kind in _LOST) else 0


def _check(_options: argparse.Namespace) -> int:
    status = 0
    for finding in check():
        print(("ok    " if finding.good else "FAULT ") + finding.text)
        status = status if finding.good else _REFUSED
    return status


def _tell_run(result: RunResult) -> None:
    if result.joined is not None:
        _tell(result.joined, result.output)
    elif not result.problems:
        _say("no NVTX events were recorded, so there is no trace")
    for problem in result.problems:
        _say(problem)


def _tell(joined: JoinResult, output: object) -> None:
    counts = dict(joined.counts)
    events = counts.pop("events", 0)
    samples = counts.pop("counter_samples", 0)
    traces = len(joined.traces)
    _say(f"{output}: {events} events and {samples} counter samples from {traces} trace(s)")
    for kind, count in sorted(counts.items()):
        _say(f"  {kind}: {count}")
    for size, path in joined.cuts:
        _say(f"  {size} bytes behind the last whole packet of {path} were left out")
    for pid in joined.living:
        _say(f"  process {pid} still records; the rest is left for a later join")
    for rows, spill in joined.recovered:
        _say(f"  {rows} rows that a killed session had spilled were in {spill}")
    for problem in joined.problems:
        _say(f"  {problem}")


def _say(text: str) -> None:
    print(f"nvtx-perfetto: {text}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nvtx-perfetto", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    _add_run(actions.add_parser("run", help="run a command and record its NVTX calls"))
    _add_join(actions.add_parser("join", help="join parts and traces into one trace"))
    checking = actions.add_parser("check", help="tell whether NVTX calls are recorded here")
    checking.set_defaults(action=_check)
    return parser


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        default=RunOptions.output,
        help="the trace; %%p is the process id, %%h the host, %%q{VAR} an environment variable "
        "(default: %(default)s)".replace("%(default)s", "nvtx-%%p.pftrace"),
    )
    parser.add_argument("-f", "--overwrite", action="store_true", help="replace an output")
    parser.add_argument("--force", action="store_true", help="replace another tool that is set")
    parser.add_argument(
        "--domain",
        action="append",
        default=[],
        metavar="D",
        help="record this domain only; may be repeated; `default` is the default domain",
    )
    parser.add_argument(
        "--exclude-domain",
        action="append",
        default=[],
        metavar="D",
        help="do not record this domain; may be repeated",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command, after `--`")
    parser.set_defaults(action=_run)


def _add_join(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="+", help="parts, folders of them, and traces")
    parser.add_argument("-o", "--output", required=True, help="the trace to write")
    parser.add_argument("-f", "--overwrite", action="store_true", help="replace an output")
    parser.set_defaults(action=_join)


if __name__ == "__main__":
    sys.exit(main())
