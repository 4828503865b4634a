# SPDX-License-Identifier: Apache-2.0
"""What a sampler can read: the probe protocol, and a probe made from a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from nvtx import CounterNoValueReason
from nvtx_schema import Schema, counter_schema

#: The values of a schema's fields in order. None stands for an unknown value of a float field.
Row: TypeAlias = Sequence["float | None"]


class Stamped(NamedTuple):
    """A row that brings its own time, from a device that samples on its own.

    Attributes
    ----------
    time_ns : int
        Real time in nanoseconds.
    error_ns : int
        How far the time may be off.
    row : sequence of numbers
        As a probe's ``read`` returns it.
    """

    time_ns: int
    error_ns: int
    row: Row


class StampedRows(list[Stamped]):
    """Several stamped rows, oldest first, as one ``read`` may return them."""


class LateRow:
    """A row that is made out when somebody looks at it; subclasses say how.

    It can be used as a sequence of its values.

    What a device or the kernel answers may be kept as it is, and a sampler looks at such rows in
    bursts. Between two ticks everything falls out of the processor's caches, so that what a tick
    does takes ten times what it takes in a loop.

    Parameters
    ----------
    raw : bytes
        What was read.
    """

    __slots__ = ("raw",)

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    def values(self) -> tuple[float | None, ...]:
        """Return the values, as a probe's ``read`` would; called in any thread."""
        raise NotImplementedError(f"{type(self).__name__} must say what its values are")

    def __iter__(self) -> Iterator[float | None]:
        return iter(self.values())

    def __len__(self) -> int:
        return len(self.values())

    def __getitem__(self, index: Any) -> Any:
        return self.values()[index]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.raw!r})"


Reading: TypeAlias = "Row | LateRow | StampedRows | CounterNoValueReason"


class Probe(Protocol):
    """One counter group that a sampler reads; write a class like this for your own.

    Attributes
    ----------
    name : str
        Name of the counter group, unique in a sampler.
    schema : nvtx_schema.Schema
        The group's fields, built by ``nvtx_schema.counter_schema``: dtypes, units, limits.
    interval : float or None
        Seconds between two reads, at least 0.001; None for the sampler's.

    Notes
    -----
    A probe belongs to one sampler. Its calls never overlap. They come from the thread that
    starts and stops the sampler, from threads of the sampler's, and from threads that use
    ``peak`` or ``step``. A probe may have a ``description``, a text that NVTX tools show.
    """

    @property
    def name(self) -> str:
        """Name of the counter group."""

    @property
    def schema(self) -> Schema:
        """The group's fields."""

    @property
    def interval(self) -> float | None:
        """Seconds between two reads; None for the sampler's."""

    def open(self) -> None:
        """Acquire what reading needs.

        Called at every start, in the process that samples. What an earlier call acquired,
        perhaps in a parent process, is to be dropped. An exception keeps the probe out of
        this run; its text is the recorded reason.
        """

    def read(self) -> Reading:
        """Return the values of now, in the order of the schema's fields.

        A ``CounterNoValueReason`` is a row without values: ``ZERO`` and ``UNCHANGED`` say
        what the values are, ``UNAVAILABLE`` leaves a gap. Raising ``Unavailable`` leaves a
        gap with a reason. Any other exception ends this probe, and no other.
        """

    def close(self) -> None:
        """Release what ``open`` acquired."""


@runtime_checkable
class PeakProbe(Protocol):
    """A probe whose source keeps high-water marks of its own."""

    def read_peaks(self) -> Mapping[str, int]:
        """Return field name to the greatest value so far; nothing is reset by it."""


@runtime_checkable
class ProbeSource(Protocol):
    """Something that yields probes once what they measure exists.

    Attributes
    ----------
    name : str
        What it looks for, for the report.
    reasons : mapping of str to str
        What cannot be measured, and why.
    """

    name: str
    reasons: Mapping[str, str]

    def discover(self) -> Sequence[Probe]:
        """Return the probes found since the last call; an empty sequence while there are none.

        Called at start and a few times a second, cheap while nothing is new. An exception
        ends the search; its text is the recorded reason.
        """


class FunctionProbe:
    """A probe that calls a function.

    Parameters
    ----------
    name : str
        Name of the counter group.
    fields : mapping or nvtx_schema.Schema
        Field name to dtype or ``nvtx_schema.value(...)``.
    function : callable
        Returns what :meth:`Probe.read` may return; called without arguments.
    interval : float, optional
        Seconds between two reads; the sampler's by default.

    Examples
    --------
    >>> import numpy as np
    >>> queue = [1, 2, 3]
    >>> probe = FunctionProbe("queue", {"length": np.int64}, lambda: (len(queue),))
    >>> probe.read()
    (3,)
    """

    def __init__(
        self,
        name: str,
        fields: Mapping[str, Any] | Schema,
        function: Callable[[], Reading],
        *,
        interval: float | None = None,
    ) -> None:
        self.name = name
        self.schema = fields if isinstance(fields, Schema) else counter_schema(fields)
        self.interval = interval
        self._function = function

    def open(self) -> None:
        """Do nothing: a function needs no preparation."""

    def read(self) -> Reading:
        """Call the function."""
        return self._function()

    def close(self) -> None:
        """Do nothing."""
