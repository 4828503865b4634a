# SPDX-License-Identifier: Apache-2.0
"""How much memory does the conversion of a Chrome trace take, and how does it grow?

A trace with all that an importer has to keep apart is converted at two sizes, each in a process of
its own, whose peak resident set is printed. Peaks hold the interpreter and all that it imports:
what the smallest of conversions takes is printed first. Takes minutes and 400 MB of disk.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mixed_trace import EVENTS_A_STEP, write_mixed_trace

EVENTS = 1_000_000
FACTOR = 5
LIMIT_MB = 500

# Prints the process's own peak in KiB; what getrusage tells of a child may be its parent's.
CONVERT = """
import sys
from pathlib import Path
from nvtx_replay.cli import main
main(["convert", *sys.argv[1:]], standalone_mode=False)
lines = Path("/proc/self/status").read_text().splitlines()
print(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
"""


def converted(events: int) -> float:
    """Convert that many events; print and return the peak in MB."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "in.json.gz", Path(folder) / "out.pftrace"
        write_mixed_trace(source, events)
        command = [sys.executable, "-c", CONVERT, str(source), "-o", str(output)]
        began = time.perf_counter()
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        seconds = time.perf_counter() - began
        read, written = source.stat().st_size / 1e6, output.stat().st_size / 1e6
    peak = int(told) * 1024 / 1e6
    print(
        f"  {events:9,} events, {read:.0f} MB gzip to {written:.0f} MB: "
        f"{seconds:.1f} s, {events / seconds / 1e3:.0f} k events/s, peak RSS {peak:.0f} MB",
        flush=True,
    )
    return peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS, help="of the smaller trace")
    few = parser.parse_args().events
    print(f"\nMemory of nvtx-replay convert, {few / 1e6:g} and {FACTOR * few / 1e6:g} M events")
    least, small, large = map(converted, (EVENTS_A_STEP, few, FACTOR * few))
    print(
        f"  {FACTOR}x the events take {large / small:.2f}x the memory, "
        f"{(large - small) / (FACTOR - 1) / few * 1e6:.0f} bytes for each event more; "
        f"{least:.0f} MB are there from the start"
    )
    print(f"  {'below' if large < LIMIT_MB else 'ABOVE'} the limit of {LIMIT_MB} MB")


if __name__ == "__main__":
    main()
