# SPDX-License-Identifier: Apache-2.0
"""The public names, and the shortest example."""

import doctest

import nvtx_schema
from nvtx_schema import _builders, _declaration, _schema


def test_public_names_are_pinned():
    assert nvtx_schema.__all__ == [
        "Field", "PackError", "Problem", "Schema", "SchemaError", "__version__", "category",
        "color", "counter_schema", "counter_timestamp", "half_schema", "mark_schema", "mark_time",
        "message", "range_begin", "range_end", "range_id", "range_schema", "registered_string",
        "schema", "scope_id", "text", "value",
    ]  # fmt: skip
    assert all(hasattr(nvtx_schema, name) for name in nvtx_schema.__all__)


def test_examples_in_docstrings_run():
    for module in (nvtx_schema, _builders, _declaration, _schema):
        result = doctest.testmod(module)
        assert result.attempted > 0
        assert result.failed == 0
