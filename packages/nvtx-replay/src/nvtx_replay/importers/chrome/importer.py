# SPDX-License-Identifier: Apache-2.0
"""Chrome's Trace Event Format, which PyTorch's profiler (Kineto) and many others write.

The format is described in Google's document "Trace Event Format"; Kineto's additions are the key
``baseTimeNanoseconds``, categories such as ``python_function``, and ``[memory]`` instants.
"""

from __future__ import annotations

import re
from contextlib import closing
from typing import Any

from nvtx_replay.importers._input import InputFile
from nvtx_replay.importers.chrome._clock import Clock, parse_unit
from nvtx_replay.importers.chrome._emit import Emitter
from nvtx_replay.importers.chrome._identity import Identities
from nvtx_replay.importers.chrome._json_events import EventReader, Number
from nvtx_replay.importers.chrome._problems import Problems
from nvtx_replay.importers.chrome._scan import Scan
from nvtx_replay.importers.chrome._text import clean
from nvtx_replay.importers.chrome._walk import TIME_LIMIT, Walk
from nvtx_replay.importers.errors import InputRefusedError
from nvtx_replay.importers.options import ImportOptions
from nvtx_replay.report import Report

_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")
_IMPLAUSIBLE_NS = 366 * 86_400 * 10**9


class ChromeImporter:
    """Import Chrome and Kineto JSON traces, plain or gzip, whole or cut off."""

    name = "chrome"
    title = "Chrome Trace Event Format JSON (PyTorch's profiler, chrome://tracing)"

    def accepts(self, head: bytes) -> bool:
        """Return whether a file that begins so may be of this format."""
        return _OPENING.match(head) is not None

    def scan(self, source: InputFile, options: ImportOptions) -> ChromeSource:
        """Read the input once, for all that must be known before writing.

        Raises
        ------
        InputRefusedError
            If the input is no JSON at all, or has a fault and ``options.on_error`` is ``"raise"``.
        """
        return ChromeSource(source, options)


class ChromeSource:
    """An input after its first pass.

    Attributes
    ----------
    report : Report
        What had to be skipped or repaired.
    contents : dict
        What was found, in numbers.
    """

    def __init__(self, source: InputFile, options: ImportOptions) -> None:
        self.report = Report()
        self._source = source
        self._options = options
        self._identities = Identities()
        problems = Problems(self.report, options.on_error)
        self._scan = Scan(self._identities, problems)
        with closing(self._scan.ranges):
            reader = self._pass(self._scan, problems)
            self._base = self._base_time(reader, problems)
            self._note_faults(reader, problems)
            self._scan.finish(options.clip_ns)
        self.contents = self._contents()

    @property
    def first_ns(self) -> int | None:
        """The earliest time to be written, in nanoseconds, or None if nothing has a time."""
        extent = self._scan.extent
        return None if extent.span is None else extent.first + (self._base or 0)

    def write(self, session: Any) -> None:
        """Read the input again and write it.

        Parameters
        ----------
        session : nvtx_replay.Session or nvtx.writer.Session
            An active session.
        """
        muted = Problems(Report(), self._options.on_error)
        name = self._options.domain or clean(self._source.path.name.split(".")[0])
        with Emitter(session, name, self._scan, self._base) as emitter:
            self._pass(emitter, muted)
        if emitter.written != len(self._scan.ranges):
            raise InputRefusedError(
                f"{self._source.path} changed while it was read: {len(self._scan.ranges)} ranges "
                f"at first, then {emitter.written}; convert a copy that nothing writes to"
            )
        if emitter.changed_texts:
            sentence = "a text holds NUL or what is no UTF-8; shown as U+2400 or U+FFFD"
            self.report.repair("changed_text", emitter.changed_texts, sentence)
        if emitter.folded:
            sentence = "too many distinct layouts of arguments; kept as one JSON text each"
            self.report.repair("args_as_json_text", emitter.folded, sentence)

    def _pass(self, visitor: Any, problems: Problems) -> EventReader:
        reader = EventReader(self._source.chunks())
        clock = Clock(parse_unit(self._options.unit), problems.accepts_text_time)
        Walk(visitor, self._identities, clock, problems).run(reader)
        return reader

    def _base_time(self, reader: EventReader, problems: Problems) -> int | None:
        base = reader.header.get("baseTimeNanoseconds")
        if base is None:
            return None
        if isinstance(base, str) and not isinstance(base, Number) and base.isdigit():
            sentence = "baseTimeNanoseconds is a text; read as a number"
            base = int(base) if problems.repair("number_as_text", sentence) else None
        if type(base) is int and 0 <= base < TIME_LIMIT:
            return base
        problems.skip(
            "bad_base_time",
            f"baseTimeNanoseconds is {str(base)[:40]}, expected an integer from 0 to {TIME_LIMIT}; "
            "times stay relative",
        )
        return None

    def _note_faults(self, reader: EventReader, problems: Problems) -> None:
        # A cut or corrupt gzip file shows as JSON that ends early; both places are told.
        outer = f"{self._source.fault}; " if self._source.fault else ""
        if reader.fault is not None:
            if not self._scan.counts() and not reader.header:
                raise InputRefusedError(f"{self._source.path}: {outer}{reader.fault}")
            problems.skip("input_cut", f"{outer}{reader.fault}; all before it is kept")
        elif outer:
            problems.skip("input_cut", f"{outer}all before it is kept")
        if reader.invalid_bytes:
            sentence = "bytes that are no UTF-8; shown as U+FFFD"
            self.report.repair("invalid_utf8", reader.invalid_bytes, sentence)

    def _contents(self) -> dict[str, Any]:
        scan = self._scan
        span = scan.extent.span
        notes = []
        if span is None:
            notes.append("no timed events")
        elif span > _IMPLAUSIBLE_NS:
            notes.append("spans more than a year: if its times are no microseconds, give the unit")
        return {
            "format": ChromeImporter.name,
            "clock": "relative" if self._base is None else "realtime",
            "base_time_ns": self._base,
            "first_ns": self.first_ns,
            "span_ns": span,
            "events": scan.counts(),
            "processes": len({row.pid for row in scan.used_rows.values()}),
            "threads": len(scan.used_rows),
            "counters": len(scan.float_series),
            "notes": notes,
        }
