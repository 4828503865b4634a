# SPDX-License-Identifier: Apache-2.0
"""The SQL that the docs show gives what the docs say."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from nvtx.writer import Session
from support import TraceProcessor

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "query-a-trace.md"


def test_queries_of_the_how_to_find_what_they_ask_for(
    tmp_path: Path, processor: TraceProcessor, open_session: Callable[..., Session]
) -> None:
    path = tmp_path / "queried.pftrace"
    with open_session(path) as session:
        domain = session.get_domain("trainer")
        counter = domain.get_counter("kv_cache", int)
        with session.create_stream("rank 0", domain=domain) as stream:
            stream.write_pushpop(10, 30, message="layer", category="forward")
            stream.write_counter_sample(counter, timestamp=15, value=7)
            stream.write_pop(40)
    (block,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    queries = [query.strip() for query in block.split(";") if query.strip()]
    processor.load(path)
    by_category, payload, series, summary = map(processor.query, queries)
    assert by_category == [{"name": "layer", "ts": 10, "dur": 20}]
    assert {"name": "layer", "dur": 20, "items": None} in payload
    assert series == [{"ts": 15, "value": 7.0}]
    assert [row["int_value"] for row in summary if "pop" in str(row["key"])] == [1]
