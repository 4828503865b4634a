# SPDX-License-Identifier: Apache-2.0
"""The importers there are: ours, and those that other packages add by entry point."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from nvtx_replay.importers._input import InputFile
from nvtx_replay.importers.chrome import ChromeImporter
from nvtx_replay.importers.errors import InputRefusedError
from nvtx_replay.importers.options import ImportOptions
from nvtx_replay.report import Report

GROUP = "nvtx_replay.importers"
"""The entry-point group; each entry names an :class:`Importer` or a callable that makes one."""


class Source(Protocol):
    """An input that has been read once and can now be written.

    Attributes
    ----------
    report : Report
        What was skipped or repaired; may grow while writing.
    contents : dict
        What was found, ready for JSON.
    first_ns : int or None
        The earliest timestamp to be written, in nanoseconds; None if nothing has a time.
    """

    report: Report
    contents: dict[str, Any]

    @property
    def first_ns(self) -> int | None:
        """The earliest timestamp to be written."""

    def write(self, session: Any) -> None:
        """Write everything to an active ``nvtx.writer`` or ``nvtx_replay`` session."""


@runtime_checkable
class Importer(Protocol):
    """One input format.

    Attributes
    ----------
    name : str
        A short name, unique among importers.
    title : str
        The format in words.
    """

    name: str
    title: str

    def accepts(self, head: bytes) -> bool:
        """Return whether a file may be of this format, by its first decompressed bytes."""

    def scan(self, source: InputFile, options: ImportOptions) -> Source:
        """Read the input once; raises :class:`InputRefusedError` if it cannot be imported."""


def importers() -> list[Importer]:
    """Return all importers: those of other packages first, so that they can be more specific.

    Raises
    ------
    InputRefusedError
        If an installed entry point cannot be loaded; the message names it.
    """
    return [*(_loaded(entry) for entry in entry_points(group=GROUP)), ChromeImporter()]


def find_importer(source: InputFile) -> Importer:
    """Return the importer that accepts the input, going by its content, never by its name.

    Raises
    ------
    InputRefusedError
        If there is none; the message lists the formats that are known.
    """
    head = source.head()
    known = importers()
    for importer in known:
        if importer.accepts(head):
            return importer
    formats = "; ".join(importer.title for importer in known)
    raise InputRefusedError(
        f"{source.path} begins with {head[:16]!r}, which no importer knows; expected: {formats}"
    )


def scan(path: str | Path, options: ImportOptions | None = None, **input_options: Any) -> Source:
    """Read an input of any known format once, ready to be written to a session.

    Parameters
    ----------
    path : path-like
        A regular file, plain or gzip.
    options : ImportOptions, optional
        How to import.
    **input_options
        ``progress``, a callable that is told the bytes read.

    Raises
    ------
    InputRefusedError
        If the input cannot be imported.

    Examples
    --------
    >>> source = scan("trace.json.gz")                         # doctest: +SKIP
    >>> with nvtx_replay.open_session("trace.pftrace") as session:  # doctest: +SKIP
    ...     source.write(session)
    """
    source = InputFile(Path(path), **input_options)
    return find_importer(source).scan(source, options or ImportOptions())


def _loaded(entry: EntryPoint) -> Importer:
    try:
        found = entry.load()
        importer = found() if callable(found) else found
    except Exception as error:
        raise InputRefusedError(
            f"the importer {entry.name!r} ({entry.value}) cannot be loaded: {error}; "
            "uninstall or repair the package that declares it"
        ) from error
    if not isinstance(importer, Importer):
        raise InputRefusedError(
            f"the importer {entry.name!r} ({entry.value}) is a {type(importer).__name__}, "
            "expected name, title, accepts() and scan()"
        )
    return importer
