# SPDX-License-Identifier: Apache-2.0
"""One row of a schema, checked field by field without building columns."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from nvtx import PayloadEntryType

from nvtx_replay._clock import exact_time
from nvtx_replay._faults import Faults
from nvtx_replay._packing import refused
from nvtx_replay.errors import TableError

if TYPE_CHECKING:
    from nvtx_schema import Field

    from nvtx_replay._open_ranges import OpenRanges
    from nvtx_replay._ordering import Promise
    from nvtx_replay._schema_rows import Form
    from nvtx_replay._strings import StringStore

Convert: TypeAlias = Callable[[Any, Faults], Any]


class EventRow:
    """Checks rows of one schema, one at a time."""

    def __init__(self, form: Form, strings: StringStore) -> None:
        self._form = form
        self._strings = strings
        self._names = form.schema.names
        self._kind = form.schema.kind_name
        self._converts = [self._converter(name) for name in self._names]
        self._simple = all(convert is not None for convert in self._converts)

    def checked(
        self, row: Any, faults: Faults, promise: Promise, open_ranges: OpenRanges
    ) -> Any | None:
        """Return the row as the writer takes it, or None if it is to be skipped."""
        values = self._values(row)
        times = self._times(values, faults)
        if times is None:
            return None
        settled = self._paired(values, times, faults, open_ranges)
        if settled is None or not promise.keeps(*settled):
            return None
        self._put_times(values, settled)
        return self._converted(values, faults)

    def _values(self, row: Any) -> dict[str, Any]:
        if isinstance(row, Mapping):
            if row.keys() != set(self._names):
                raise TableError(
                    f"the row has fields {sorted(row)}; the schema has {sorted(self._names)}"
                )
            return dict(row)
        values = tuple(row)
        if len(values) != len(self._names):
            raise TableError(
                f"the row has {len(values)} values; the schema has {len(self._names)} fields "
                f"({', '.join(self._names)})"
            )
        return dict(zip(self._names, values, strict=True))

    def _times(self, values: Mapping[str, Any], faults: Faults) -> list[int] | None:
        """Return begin and end, or the one time that the row has."""
        times = []
        for name in (self._form.roles.begin, self._form.roles.end):
            if name is not None:
                time = exact_time(values[name], faults)
                if time is None:
                    return None
                times.append(time)
        return times

    def _paired(
        self, values: Mapping[str, Any], times: list[int], faults: Faults, ranges: OpenRanges
    ) -> tuple[int, ...] | None:
        """Pair a half with its other half; return the times to be written."""
        roles = self._form.roles
        what = str(values[roles.message]) if roles.message else ""
        scope = 0 if roles.scope is None else _scope_id(values[roles.scope])
        if self._kind == "push":
            ranges.push(times[0], what, scope)
        elif self._kind == "pop":
            end = ranges.pop(times[0], scope)
            return None if end is None else (end,)
        elif self._kind == "start":
            return (
                (times[0],)
                if ranges.start(times[0], values[roles.range_id or ""], what)
                else (None)
            )
        elif self._kind == "end":
            end = ranges.end(times[0], values[roles.range_id or ""])
            return None if end is None else (end,)
        elif len(times) == 2 and times[1] < times[0]:
            told = f"range {what!r} ends at {times[1]}, before it begins at {times[0]}"
            return (times[0], times[0]) if faults.event("end_before_begin", told) else None
        return tuple(times)

    def _put_times(self, values: dict[str, Any], times: tuple[int, ...]) -> None:
        names = [n for n in (self._form.roles.begin, self._form.roles.end) if n is not None]
        values.update(zip(names, times, strict=True))

    def _converted(self, values: Mapping[str, Any], faults: Faults) -> Any | None:
        if not self._simple:
            with refused():
                rows = self._form.schema.pack(
                    {name: [value] for name, value in values.items()},
                    domain=self._strings.bounded,
                    order="any",
                )
            return rows[0].item()
        out = []
        for name, convert in zip(self._names, self._converts, strict=True):
            value = convert(values[name], faults) if convert is not None else None
            if value is None:
                return None
            out.append(value)
        return tuple(out)

    def _converter(self, name: str) -> Convert | None:
        """Return how a value of a field is checked, or None if columns must do it."""
        field: Field = self._form.schema.fields[name]
        if field.shape or field.source not in ("number", "text"):
            return None
        if field.source == "text":
            return _text_converter(name, field.base.itemsize // 4)
        if field.entry_type is PayloadEntryType.REGISTERED_STRING:
            return self._handle_converter(name)
        if field.base.kind in "iu":
            return _integer_converter(name, np.iinfo(field.base))
        return _float_converter(name) if field.base == np.float64 else None

    def _handle_converter(self, name: str) -> Convert:
        domain = self._strings.bounded

        def convert(value: Any, _: Faults) -> int:
            if isinstance(value, str):
                return domain.get_registered_string(value).handle
            handle = getattr(value, "handle", value)
            if type(handle) is int:
                return handle
            raise _unfit(name, value, "text or a registered string")

        return convert


def _scope_id(scope: Any) -> int:
    return operator.index(getattr(scope, "scope_id", scope))


def _unfit(name: str, value: Any, expected: str) -> TableError:
    return TableError(f"field {name!r} is given {value!r:.80}; expected {expected}")


def _text_converter(name: str, width: int) -> Convert:
    def convert(value: Any, faults: Faults) -> str | None:
        if not isinstance(value, str):
            raise _unfit(name, value, "text")
        if len(value) <= width:
            return value
        told = f"text {value!r:.80} has {len(value)} characters; field {name!r} holds {width}"
        return value[:width] if faults.event("text_too_long", told) else None

    return convert


def _integer_converter(name: str, limits: np.iinfo[Any]) -> Convert:
    low, high = int(limits.min), int(limits.max)

    def convert(value: Any, _: Faults) -> int:
        value = getattr(value, "scope_id", value)
        if isinstance(value, (int, np.integer)) and low <= value <= high:
            return int(value)
        raise _unfit(name, value, f"an integer from {low} to {high}")

    return convert


def _float_converter(name: str) -> Convert:
    def convert(value: Any, _: Faults) -> float:
        if isinstance(value, (float, int, np.floating, np.integer)) and float(value) == value:
            return float(value)
        if isinstance(value, (float, np.floating)):
            return float(value)  # NaN, which equals nothing
        raise _unfit(name, value, "a number that float64 holds exactly")

    return convert
