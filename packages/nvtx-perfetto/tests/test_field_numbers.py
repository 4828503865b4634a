# SPDX-License-Identifier: Apache-2.0
"""The field numbers of the writer against the descriptors of the perfetto package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

HEADER = Path(__file__).parent.parent / "native" / "perfetto" / "field_numbers.h"
NUMBERS = re.findall(r"constexpr uint32_t k(\w+?)_(\w+) = (\d+);", HEADER.read_text())
MESSAGES = {"Clock": protos.ClockSnapshot.Clock}


def test_every_constant_of_the_header_is_read() -> None:
    constants = HEADER.read_text().count("\nconstexpr")
    assert len(NUMBERS) == constants > 50


@pytest.mark.parametrize(("message", "name", "number"), NUMBERS)
def test_a_field_number_is_the_one_of_the_descriptor(message: str, name: str, number: str) -> None:
    kind = MESSAGES.get(message) or getattr(protos, message)
    assert kind.DESCRIPTOR.fields_by_name[name].number == int(number)
