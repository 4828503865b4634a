# SPDX-License-Identifier: Apache-2.0
"""Which process and thread an event belongs to, and what they are called."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from nvtx_replay.importers.chrome._json_events import Number
from nvtx_replay.importers.chrome._text import clean, json_text

Id: TypeAlias = int | str | None

# Perfetto keeps ids as signed 32-bit numbers, and id 0 is its idle process and thread.
_MAX_ENGINE_ID = 2**31 - 1


def normal_id(value: Any) -> Id:
    """Return the one form of an id: a text that is exactly a decimal integer is that integer.

    So ``7`` and ``"7"`` are one thread, while ``"07"`` and ``"CPU functions"`` are texts.
    """
    if value is None or type(value) is int:
        return value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        text = clean(value)
        digits = text[1:] if text.startswith("-") else text
        if digits.isascii() and digits.isdigit() and len(digits) <= 20:
            number = int(text)
            if str(number) == text:
                return number
        if type(value) is Number and text.endswith(".0"):
            return normal_id(text[:-2])
        return text
    return json_text(value)


@dataclass
class Named:
    """What the metadata events said about one process or thread."""

    name: str = ""
    labels: str = ""
    sort_index: int = 0


@dataclass(frozen=True)
class Row:
    """One (process, thread) pair of the input.

    ``index`` counts rows in the order in which they were met.
    """

    pid: Id
    tid: Id
    index: int


@dataclass
class Identities:
    """All processes and threads of an input, filled in the first pass and read in the second."""

    processes: dict[Id, Named] = field(default_factory=dict)
    threads: dict[tuple[Id, Id], Named] = field(default_factory=dict)
    rows: dict[tuple[Id, Id], Row] = field(default_factory=dict)
    _cache: dict[tuple[Any, Any], Row] = field(default_factory=dict)

    def row(self, event: dict[str, Any]) -> Row:
        """Return the row of an event, which may lack a pid or tid."""
        pid, tid = event.get("pid"), event.get("tid")
        try:
            return self._cache[pid, tid]
        except (KeyError, TypeError):
            key = normal_id(pid), normal_id(tid)
        row = self.rows.get(key)
        if row is None:
            row = self.rows[key] = Row(*key, len(self.rows))
        if isinstance(pid, int | str | None) and isinstance(tid, int | str | None):
            self._cache[pid, tid] = row
        return row

    def process(self, pid: Any) -> Named:
        """Return what is known of a process, to be filled in."""
        return self.processes.setdefault(normal_id(pid), Named())

    def thread(self, pid: Any, tid: Any) -> Named:
        """Return what is known of a thread, to be filled in."""
        return self.threads.setdefault((normal_id(pid), normal_id(tid)), Named())

    def process_label(self, pid: Id) -> str:
        """Return a process's name, told apart by its labels where several share the name."""
        known = self.processes.get(pid, Named())
        if not known.labels:
            return known.name
        sharing = sum(other.name == known.name for other in self.processes.values())
        if known.name and sharing == 1:
            return known.name
        return f"{known.name} ({known.labels})".lstrip()

    def thread_label(self, row: Row) -> str:
        """Return a thread's name as shown on its rows."""
        name = self.threads.get((row.pid, row.tid), Named()).name
        if row.tid is None:
            return name or "no thread id"
        if is_engine_id(row.tid):
            return name or f"thread {row.tid}"
        return plain_label(row.tid, name)

    def process_path(self, pid: Id) -> str:
        """Return the scope path of a process."""
        if is_engine_id(pid):
            return f"process[{pid}] {escaped(self.process_label(pid))}".rstrip()
        label = self.process_label(pid)
        return escaped(label or "no process id" if pid is None else plain_label(pid, label))

    def thread_path(self, row: Row) -> str:
        """Return the scope path of a row: its process and, below it, its thread."""
        process = self.process_path(row.pid)
        if row.tid is None:
            return process
        if is_engine_id(row.tid) and is_engine_id(row.pid):
            name = self.threads.get((row.pid, row.tid), Named()).name
            return f"{process}/thread[{row.tid}] {escaped(name)}".rstrip()
        return f"{process}/{escaped(self.thread_label(row))}"

    def order(self, row: Row) -> tuple[int, int, int]:
        """Return a key that sorts rows as the input's sort indices wish."""
        process = self.processes.get(row.pid, Named())
        thread = self.threads.get((row.pid, row.tid), Named())
        return process.sort_index, thread.sort_index, row.index


def is_engine_id(value: Id) -> bool:
    """Return whether Perfetto can hold the id of a process or thread as such."""
    return type(value) is int and 0 < value <= _MAX_ENGINE_ID


def plain_label(value: Id, name: str) -> str:
    """Return the name of a plain track that stands for an id which is text, negative or too big."""
    text = str(value)
    if not name or name == text:
        return text or "(no name)"
    return f"{name} ({text})"


def escaped(name: str) -> str:
    """Return a name as one node of an NVTX scope path."""
    for char in "\\/[]":
        name = name.replace(char, "\\" + char)
    return name
