# SPDX-License-Identifier: Apache-2.0
"""Random faulty tables against a model that treats one row at a time."""

import math
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nvtx_replay import RowError

TIMES = st.one_of(
    st.integers(-20, 20),
    st.sampled_from([None, math.nan, 1.0, 2.5, -3.5, 7.25, math.inf, 2.0**60]),
)
ROWS = st.lists(st.tuples(TIMES, TIMES), min_size=1, max_size=25)


class Model:
    """What a stream does to rows, fault by fault in the order of its checks."""

    def __init__(self, rows, way):
        self.rows = dict(enumerate(list(row) for row in rows))
        self.way = way
        self.skipped, self.repaired = Counter(), Counter()
        for side in (0, 1):
            self._check("missing_timestamp", side, lambda v: v is None, None)
            self._check("missing_timestamp", side, lambda v: not math.isfinite(v), None)
            self._check("float_timestamp", side, _inexact, round)
        for key, (begin, end) in list(self.rows.items()):
            if end < begin:
                self._treat("end_before_begin", key, 1, begin)

    def _check(self, kind, side, wrong, repair):
        for key, row in list(self.rows.items()):
            if wrong(row[side]):
                fixed = None if repair is None else repair(row[side])
                self._treat(kind, key, side, fixed)

    def _treat(self, kind, key, side, fixed):
        if self.way == "repair" and fixed is not None:
            self.rows[key][side] = fixed
            self.repaired[kind] += 1
        else:
            del self.rows[key]
            self.skipped[kind] += 1


def _inexact(value):
    return isinstance(value, float) and (value != round(value) or abs(value) > 2**53)


@pytest.mark.parametrize("way", ["skip", "repair"])
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=ROWS)
def test_faulty_rows_are_treated_and_counted_as_the_model_says(opened, recorded, way, rows):
    starts, ends = map(list, zip(*rows, strict=True))
    model = Model(rows, way)
    with opened(on_error=way) as session, session.stream("s") as stream:
        written = stream.write_ranges({"start": starts, "end": ends}, message=None)
    found = [(row["begin"], row["end"]) for row in recorded().events]
    assert found == [tuple(map(int, row)) for row in model.rows.values()]
    assert written == len(found)
    assert session.report.as_dict() == {
        "skipped": dict(model.skipped),
        "repaired": dict(model.repaired),
    }


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=ROWS)
def test_a_table_raises_exactly_where_the_model_finds_a_fault(opened, recorded, rows):
    starts, ends = map(list, zip(*rows, strict=True))
    model = Model(rows, "skip")
    fine = not model.skipped and not any(isinstance(v, float) for row in rows for v in row)
    with opened() as session, session.stream("s") as stream:
        if fine:
            stream.write_ranges({"start": starts, "end": ends}, message=None)
        else:
            with pytest.raises(RowError):
                stream.write_ranges({"start": starts, "end": ends}, message=None)
    assert len(recorded().events) == (len(rows) if fine else 0)
