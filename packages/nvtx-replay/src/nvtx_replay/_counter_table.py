# SPDX-License-Identifier: Apache-2.0
"""Tables of samples: one counter a column, or one group."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import nvtx_schema as nvs
from nvtx import CounterNoValueReason, CounterSemantics

from nvtx_replay._column import Array, Column, Mask
from nvtx_replay._counter_values import exact_cast
from nvtx_replay._packing import refused
from nvtx_replay._row_faults import RowFaults
from nvtx_replay._times import times_of
from nvtx_replay.errors import ConfigError, TableError

if TYPE_CHECKING:
    from nvtx_replay._batches import Batches


@dataclass(frozen=True)
class Samples:
    """The values of one counter or group, as the backend is to see them."""

    name: str
    values: Array
    gaps: Mask | None  # rows without a value, other than NaN
    semantics: CounterSemantics | None
    width: int = 1  # counters in it


class CounterBook:
    """The counters of one domain, each name with one type and unit."""

    def __init__(self, domain: Any) -> None:
        self._domain = domain
        self._lock = threading.Lock()
        self._known: dict[tuple[str, int], tuple[str, Any]] = {}

    def get(self, samples: Samples, scope: Any) -> Any:
        """Return the ``nvtx.writer.Counter`` of some samples."""
        dtype = samples.values.dtype
        described = (str(dtype), samples.semantics)
        key = (samples.name, getattr(scope, "scope_id", hash(scope)))
        with self._lock:
            known = self._known.setdefault(key, described)
            if known != described:
                raise TableError(
                    f"counter {samples.name!r} was written before as {known[0]}, {known[1]}, and "
                    f"is {described[0]}, {described[1]} now; convert the column, or rename it"
                )
            return self._domain.get_counter(
                samples.name, dtype, scope=scope, semantics=samples.semantics
            )


def read_counters(
    columns: Mapping[str, Column], units: Mapping[str, str] | str | None, *, group: str | None
) -> list[Samples]:
    """Return the columns as independent counters, or as one group."""
    if not columns:
        raise TableError("the table has no columns of values; expected one a counter")
    by_name = dict.fromkeys(columns, units) if isinstance(units, str) else dict(units or {})
    unknown = by_name.keys() - columns.keys()
    if unknown:
        raise ConfigError(
            f"units names {sorted(unknown)}, which are no columns of values ({sorted(columns)})"
        )
    if group is not None:
        return [_group(group, columns, by_name)]
    return [_single(name, column, by_name.get(name)) for name, column in columns.items()]


def _single(name: str, column: Column, unit: str | None) -> Samples:
    values = _numbers(name, column)
    gaps = column.nulls
    if gaps is not None and values.dtype.kind == "f":
        values, gaps = np.where(gaps, np.nan, values), None
    semantics = None if unit is None else CounterSemantics(unit=unit)
    return Samples(name, values, gaps, semantics)


def _numbers(name: str, column: Column) -> Array:
    kind = column.values.dtype.kind
    if column.is_text or kind not in "biuf" or column.values.ndim != 1:
        found = "text" if column.is_text else f"values of dtype {column.values.dtype}"
        raise TableError(f"column {name!r} holds {found}; expected numbers for a counter")
    if kind == "f":
        return exact_cast(column, np.dtype(np.float64), f"counter {name!r}")
    large = kind == "u" and bool((column.values > np.uint64(2**63 - 1)).any())
    return exact_cast(column, np.dtype(np.uint64 if large else np.int64), f"counter {name!r}")


def _group(group: str, columns: Mapping[str, Column], units: Mapping[str, str | None]) -> Samples:
    values = {}
    for name, column in columns.items():
        numbers = _numbers(name, column)
        if column.nulls is not None:
            plain = Column(name, np.where(column.nulls, 0, numbers))
            floats = exact_cast(plain, np.dtype(np.float64), f"counter {name!r}, which has gaps,")
            numbers = np.where(column.nulls, np.nan, floats)
        values[name] = numbers
    with refused():
        fields = {n: nvs.value(v.dtype, unit=units.get(n)) for n, v in values.items()}
        rows = nvs.counter_schema(fields).pack(values, order="any")
    return Samples(group, rows, None, None, len(values))


class CounterTable:
    """Writes samples to a stream."""

    def __init__(self, stream: Batches, counters: CounterBook, scope: Any) -> None:
        self._stream = stream
        self._counters = counters
        self._scope = scope

    def write(self, time: Column, counters: list[Samples], count: int) -> int:
        """Write the samples of all counters; return how many there were."""
        stream = self._stream
        checks = RowFaults(stream.faults, count)
        times = times_of(time, checks, dates=stream.dates)[checks.keep]
        if not len(times):
            return 0
        handles = [self._counters.get(samples, self._scope) for samples in counters]
        for samples, counter in zip(counters, handles, strict=True):
            values = samples.values[checks.keep]
            gaps = None if samples.gaps is None else samples.gaps[checks.keep]
            if gaps is None or not gaps.any():
                stream.write_counter_batch(counter, values, timestamps=times)
            else:
                self._write_runs(counter, values, times, gaps)
        return len(times) * sum(samples.width for samples in counters)

    def _write_runs(self, counter: Any, values: Array, times: Array, gaps: Mask) -> None:
        """Write runs of rows with and without a value, in the order of the rows."""
        edges = np.flatnonzero(gaps[1:] != gaps[:-1]) + 1
        for rows in np.split(np.arange(len(gaps)), edges):
            if not gaps[rows[0]]:
                self._stream.write_counter_batch(counter, values[rows], timestamps=times[rows])
                continue
            for time in times[rows].tolist():
                self._stream.write_counter_sample_no_value(
                    counter, time, CounterNoValueReason.UNAVAILABLE
                )
