# SPDX-License-Identifier: Apache-2.0
"""Names of any length and of any bytes."""

from __future__ import annotations

from pathlib import Path

from sessions import session, stream
from traces import read


def test_names_of_a_hundred_kilobytes_are_kept_whole(tmp_path: Path) -> None:
    long = "é" * 50_000
    with session(tmp_path / "t") as begun, begun.create_stream(long, domain=long) as main:
        main.write_mark(1, message=long, category=long)
        main.write_mark(2, message=begun.get_domain(long).get_registered_string("r" + long))
    trace = read(tmp_path / "t")
    assert [len(e.name) for e in trace.events[:2]] == [50_000, 50_001]
    assert trace.event(long).categories == [long, long]
    assert trace.path(trace.event(long).track) == f"job/{long}"


def test_ill_formed_bytes_become_replacement_characters_and_are_counted(tmp_path: Path) -> None:
    with stream(tmp_path / "t") as main:
        main.write_mark(1, message=b"a\xffz")
        main.write_mark(2, message=b"a\xffz")
    trace = read(tmp_path / "t")
    assert [e.name for e in trace.events[:2]] == ["a\ufffdz", "a\ufffdz"]
    assert trace.summary["repaired_texts"] >= 1


def test_a_comma_in_a_name_does_not_split_the_categories(tmp_path: Path) -> None:
    with stream(tmp_path / "t", domain="a,b") as main:
        main.write_mark(1, message="m,n", category="c,d")
    event = read(tmp_path / "t").event("m,n")
    assert event.categories == ["a;b", "c;d"]


def test_the_default_domain_is_named_and_an_empty_message_stays_empty(tmp_path: Path) -> None:
    with stream(tmp_path / "t", domain=None) as main:
        main.write_mark(1, message="")
        main.write_mark(2)
    events = read(tmp_path / "t").events[:2]
    assert [(e.name, e.categories) for e in events] == [("", ["NVTX"]), ("", ["NVTX"])]
