# SPDX-License-Identifier: Apache-2.0
"""Traces are read packet by packet, whatever their size, through a window."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nvtx_replay.cli._packets import PacketReader

# Prints by how many KiB the process's peak grew while a trace was read. Unlike getrusage's, this
# peak is the process's own from its first page on, not inherited from the parent.
READ = """
import sys
from pathlib import Path
from nvtx_replay.cli._trace import read_summary
def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
before = peak()
read_summary(Path(sys.argv[1]))
print(peak() - before)
"""


def packet(body):
    size, rest = len(body), bytearray()
    while size > 0x7F:
        rest.append(size & 0x7F | 0x80)
        size >>= 7
    return b"\x0a" + rest + bytes([size]) + body


def read(path, window_bytes):
    reader = PacketReader(path, window_bytes)
    found = [(reader.begin, body) for body in reader]
    return found, reader.cut


@pytest.fixture
def trace(tmp_path):
    """Write a trace of the bytes given."""

    def write(data):
        path = tmp_path / "t.pftrace"
        path.write_bytes(data)
        return path

    return write


@given(st.lists(st.integers(0, 400), max_size=8), st.integers(1, 300))
def test_every_window_gives_every_packet_and_its_place(tmp_path_factory, sizes, window_bytes):
    path = tmp_path_factory.mktemp("any") / "t.pftrace"
    bodies = [bytes([at]) * size for at, size in enumerate(sizes)]
    path.write_bytes(b"".join(map(packet, bodies)))
    begins = [sum(len(packet(body)) for body in bodies[:at]) for at in range(len(bodies))]
    assert read(path, window_bytes) == (list(zip(begins, bodies, strict=True)), None)


@pytest.mark.parametrize("window_bytes", [1, 64, 1 << 20])
def test_a_file_cut_anywhere_gives_the_packets_before_the_cut(trace, window_bytes):
    whole = packet(b"first") + packet(b"x" * 300)
    for size in range(8, len(whole)):
        why = "a varint ends early" if size < 10 else "a packet ends early"
        found = [(0, b"first")], f"{why}, at byte 7"
        assert read(trace(whole[:size]), window_bytes) == found


@pytest.mark.parametrize(
    ("rest", "why"),
    [
        (b"\x12\x00", "tag 18 instead of a packet"),
        (b"\x0a" + b"\xff" * 10, "a varint of more than ten bytes"),
        # Nothing is read ahead for a packet that cannot be there.
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\x7f", "a packet ends early"),
    ],
)
def test_what_is_no_packet_ends_the_walk(trace, rest, why):
    assert read(trace(packet(b"a") + rest), 64) == ([(0, b"a")], f"{why}, at byte 3")


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from Linux's /proc")
def test_reading_a_trace_takes_no_more_memory_than_a_window(trace):
    path = trace(packet(bytes(4_000)) * 16_000)  # 64 MB
    command = [sys.executable, "-c", READ, str(path)]
    grown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert int(grown) < 16 << 10
