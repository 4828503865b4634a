# SPDX-License-Identifier: Apache-2.0
"""Rows of nested ranges with registered names, as a converted training trace has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import nvtx_schema
from nvtx.writer import Domain

SCHEMA = nvtx_schema.range_schema("pushpop", message="registered")
FIELDS = tuple(SCHEMA.dtype.names or ())  # begin, end, message
NAMES = 64
GROUP = 10  # one outer range and nine inside it, one after the other


def nested_rows(at: Any) -> Any:
    """Give the rows of these numbers, unnamed; in rising order they are sorted by begin."""
    group, place = at // GROUP, at % GROUP
    rows = np.empty(len(at), SCHEMA.dtype)
    begin, end, message = FIELDS
    rows[begin] = group * 10_000 + place * 1_000
    rows[end] = np.where(place == 0, rows[begin] + 9_950, rows[begin] + 900)
    rows[message] = (at * 7) % NAMES
    return rows


def name(rows: Any, numbers: Any, domain: Domain) -> None:
    """Name rows by the numbers of their names; handles differ from session to session."""
    handles = [
        domain.get_registered_string(f"operation {number}").handle for number in range(NAMES)
    ]
    rows[FIELDS[2]] = np.array(handles, np.uint64)[numbers]


def register(domain: Domain) -> Any:
    """Register the rows' schema in a domain."""
    return domain.get_schema(SCHEMA.dtype, kind=SCHEMA.kind)
