# SPDX-License-Identifier: Apache-2.0
"""From the columns of a table of events to rows that the writer takes, one layout at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import nvtx_schema as nvs

from nvtx_replay._column import Array, Column
from nvtx_replay._event_columns import EventColumns, field_of
from nvtx_replay._layouts import Rows, groups, layout_keys
from nvtx_replay._packing import pack
from nvtx_replay._strings import StringStore
from nvtx_replay._texts import TextPlan, Texts, plan_texts
from nvtx_replay._times import Times

# What is packed at once: bytes of text, which may be wide, and rows.
_BYTES, _ROWS = 1 << 24, 1 << 16


@dataclass(frozen=True)
class EventRows:
    """Packed rows of one layout."""

    schema: nvs.Schema
    rows: Array
    begins: Times


class _Layout:
    """The fields of one group of rows, with their values."""

    def __init__(self, taken: Mapping[str, Any]) -> None:
        self._taken = taken
        self.fields: dict[str, Any] = {}
        self.columns: dict[str, Any] = {}

    def add(self, name: str, spec: Any, values: Any) -> None:
        """Add a payload field."""
        self.fields[name] = spec
        self.columns[name] = values

    def add_part(self, name: str, spec: Any, values: Any) -> None:
        """Add a field with a part of its own, whose name is not shown, under a free name."""
        while name in self._taken or name in self.fields:
            name += "_"
        self.add(name, spec, values)


class Packer:
    """Packs the rows of a table that were found to be in order.

    Parameters
    ----------
    parts : EventColumns
        The columns, settled, of those rows alone.
    begins, ends : numpy.ndarray of int64
        The times of the rows; equal for marks.
    strings : StringStore
        The domain's registered strings. Texts and categories are registered as their rows are
        packed.
    """

    def __init__(
        self, parts: EventColumns, begins: Times, ends: Times, strings: StringStore
    ) -> None:
        self._parts = parts
        self._begins = begins
        self._ends = ends
        self._strings = strings
        self._texts = {
            name: plan_texts(texts, strings, per_row=False)
            for name, texts in parts.payload.items()
            if isinstance(texts, Texts)
        }
        self._message: TextPlan | None = None
        if isinstance(parts.message, Texts):
            self._message = plan_texts(parts.message, strings, per_row=True)

    def pack(self, *, keep_order: bool) -> Iterator[EventRows]:
        """Yield the rows by layout, a bounded part of them at once."""
        plans = list(self._texts.values())
        if self._message is not None:
            plans.append(self._message)
        nulls = [column.nulls for column in self._parts.payload.values()]
        keys = layout_keys(nulls, plans, len(self._begins))
        for rows in groups(keys, self._begins, self._ends, keep_order=keep_order):
            widest = sum(int(plan.widths[rows].max()) for plan in plans)
            step = min(_ROWS, max(1, _BYTES // (4 * widest + 1)))
            for at in range(0, len(rows), step):
                yield self._pack_group(rows[at : at + step])

    def _pack_group(self, rows: Rows) -> EventRows:
        layout = _Layout(self._parts.payload)
        self._add_times(layout, rows)
        if self._message is not None:
            layout.add_part("message", *self._text(self._message, rows, nvs.message))
        if self._parts.category is not None:
            layout.add_part("category", nvs.category(), self._categories(rows))
        if self._parts.color is not None:
            color = self._parts.color
            values = color.values[rows] if isinstance(color, Column) else color
            layout.add_part("color", nvs.color(), values)
        for name, column in self._parts.payload.items():
            if column.nulls is not None and column.nulls[rows[0]]:
                continue  # a field without a value is left out; the layout's rows agree in that
            if isinstance(column, Texts):
                layout.add(name, *self._text(self._texts[name], rows, _text_field))
            else:
                layout.add(name, field_of(column), column.values[rows])
        schema = nvs.Schema(self._parts.kind, layout.fields)
        return EventRows(schema, pack(schema, layout.columns), self._begins[rows])

    def _add_times(self, layout: _Layout, rows: Rows) -> None:
        if self._parts.kind == "mark":
            layout.add_part("time", nvs.mark_time(), self._begins[rows])
            return
        layout.add_part("start", nvs.range_begin(), self._begins[rows])
        layout.add_part("end", nvs.range_end(), self._ends[rows])

    def _text(self, plan: TextPlan, rows: Rows, spec: Callable[[Any], Any]) -> tuple[Any, Any]:
        """Return the field of some rows' text, and its values."""
        if plan.registered[rows].all():
            return spec("registered"), plan.handles(rows, self._strings)
        return spec(plan.width(rows)), plan.plain(rows)

    def _categories(self, rows: Rows) -> Any:
        category = self._parts.category
        if isinstance(category, Column):
            return category.values[rows]
        if not isinstance(category, Texts):
            return category
        texts = category.select(rows)
        ids = np.zeros(len(texts.labels), dtype=np.uint32)
        for code in texts.used().tolist():
            name = texts.labels[code]
            ids[code] = self._strings.domain.get_category_id(name) if name else 0
        return ids[texts.codes]


def _text_field(width: Any) -> Any:
    return nvs.registered_string() if width == "registered" else nvs.text(width)
