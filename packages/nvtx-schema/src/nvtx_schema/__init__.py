# SPDX-License-Identifier: Apache-2.0
"""Checked NumPy payload schemas for NVTX events and counters.

>>> import numpy as np, nvtx_schema as nvs
>>> work = nvs.range_schema("startend", message=16, fields={"items": np.int64})
>>> rows = work.pack(start=[0, 50], end=[40, 90], message="load", items=[3, 4])
>>> rows["items"].tolist()
[3, 4]

``work.dtype`` and ``work.kind`` go to ``nvtx.writer.Domain.get_schema``, ``rows`` to
``nvtx.writer.Stream.write_event_batch``.
"""

from ._builders import counter_schema, half_schema, mark_schema, range_schema
from ._declaration import schema
from ._field import Field
from ._roles import (
    category,
    color,
    counter_timestamp,
    mark_time,
    message,
    range_begin,
    range_end,
    range_id,
    registered_string,
    scope_id,
    text,
    value,
)
from ._schema import Schema
from ._version import __version__
from .errors import PackError, Problem, SchemaError

__all__ = [
    "Field",
    "PackError",
    "Problem",
    "Schema",
    "SchemaError",
    "__version__",
    "category",
    "color",
    "counter_schema",
    "counter_timestamp",
    "half_schema",
    "mark_schema",
    "mark_time",
    "message",
    "range_begin",
    "range_end",
    "range_id",
    "range_schema",
    "registered_string",
    "schema",
    "scope_id",
    "text",
    "value",
]
