# SPDX-License-Identifier: Apache-2.0
"""``nvtx-replay convert``: from another tool's file to a timeline."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import click

from nvtx_replay import open_session
from nvtx_replay._backend import NSYS_SUFFIX
from nvtx_replay.cli._progress import reading_progress
from nvtx_replay.cli._report import Outcome, as_lines
from nvtx_replay.cli._status import LOSSES, refusals
from nvtx_replay.cli._trace import is_trace, read_summary
from nvtx_replay.errors import BackendError
from nvtx_replay.importers import ImportOptions, InputFile, Source, find_importer

# Half of what the writer takes by itself: events come at the rate at which JSON is read, so that
# spilling twice as often shows in no measurement.
_SORTING_MEMORY = "128M"


@click.command()
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    required=True,
    type=click.Path(path_type=Path),
    help="What to write: .pftrace for Perfetto, .nsys-rep for Nsight Systems.",
)
@click.option("-f", "--force", is_flag=True, help="Replace an existing output.")
@click.option(
    "--unit",
    type=click.Choice(["us", "ns", "ms", "s"]),
    default="us",
    show_default=True,
    help="What the input's times count; displayTimeUnit never matters.",
)
@click.option(
    "--on-error",
    type=click.Choice(["repair", "skip", "raise"]),
    default="repair",
    show_default=True,
    help="What to do with events that are not as the format says.",
)
@click.option(
    "--clip",
    metavar="NS",
    type=click.IntRange(min=0),
    default=0,
    help="Cut back ranges that outlive their parent by at most NS nanoseconds.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON on stdout.")
def convert(source: Path, output: Path, *, force: bool, as_json: bool, **options: Any) -> None:
    """Convert the trace IN (Chrome or Kineto JSON, plain or gzip) to OUT."""
    if not force and output.exists() and output.is_file():
        raise click.UsageError(f"{output} exists; pass -f to replace it")
    if output.exists() and source.exists() and source.samefile(output):
        raise click.UsageError(f"{output} is the input; choose another output")
    with refusals():
        chosen = ImportOptions(
            unit=options["unit"], on_error=options["on_error"], clip_ns=options["clip"]
        )
        outcome = _convert(source, output, chosen, quiet=as_json)
    if as_json:
        click.echo(json.dumps(outcome.as_dict(), ensure_ascii=False))
    else:
        for line in as_lines(outcome):
            click.echo(line, err=True)
    if not outcome.lossless:
        raise SystemExit(LOSSES)


def _convert(path: Path, output: Path, options: ImportOptions, *, quiet: bool) -> Outcome:
    size = InputFile(path).size
    with reading_progress("reading", size, quiet=quiet) as progress:
        file = InputFile(path, progress)
        source = find_importer(file).scan(file, options)
    # Nsight Systems' timelines have no such bound, and its writer no such options.
    config: dict[str, str | int] = {}
    offset = 0
    if not output.name.endswith(NSYS_SUFFIX):
        config["memory"] = _SORTING_MEMORY
        if offset := _offset(source):
            config["time_offset"] = offset
    backend_loss = None
    try:
        with open_session(output, config=config, overwrite=True) as session:  # noqa: SIM117
            with reading_progress("writing", size, quiet=quiet) as progress:
                file.progress = progress
                source.write(session)
    except BackendError as error:
        if error.operation != "SessionEnd":
            raise
        backend_loss = str(error)
    summary = read_summary(output) if _is_trace(output) else Counter()
    return Outcome(path, output, source, offset, backend_loss, dict(summary))


def _is_trace(path: Path) -> bool:
    """Return whether a backend wrote a Perfetto trace of that very name."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return is_trace(file.read(4096))


def _offset(source: Source) -> int:
    """Return what to add to every time: Perfetto's timelines begin at 0."""
    first = source.first_ns
    return -first if first is not None and first < 0 else 0
