# SPDX-License-Identifier: Apache-2.0
"""How much memory do 100 million ranges take, in order and shuffled?

Each order runs in a process of its own, whose peak resident set is printed, and the ranges in its
file are counted by a reader that shares nothing with the writer. Takes minutes and GBs of disk.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import nvtx
import nvtx_perfetto
from compiled import program
from nested_ranges import NAMES, name, nested_rows, register
from nvtx.writer import Session, StreamOrdering, load_backend

ROWS = 100_000_000
BATCH = 1_000_000
# Coprime to any power of ten, and far from both ends: neighbours in the file lie far apart in time.
STRIDE = 61_803_399


def write(output: Path, rows: int, shuffled: bool) -> None:
    """Write all rows in batches; print time, size and the process's peak memory."""
    ordering = StreamOrdering.UNKNOWN if shuffled else StreamOrdering.STRICT
    batch_order = nvtx.BatchOrdering.UNSORTED if shuffled else nvtx.BatchOrdering.SORTED
    backend = load_backend(nvtx_perfetto.library_path())
    began = time.perf_counter()
    with Session("memory", backend=backend, config=f"output={output}") as session:
        domain = session.get_domain("bench")
        schema = register(domain)
        with session.create_stream("s", domain=domain, ordering=ordering) as stream:
            for first in range(0, rows, BATCH):
                at = np.arange(first, min(first + BATCH, rows), dtype=np.int64)
                if shuffled:
                    at = at * STRIDE % rows
                batch = nested_rows(at)
                name(batch, at * 7 % NAMES, domain)
                stream.write_event_batch(schema, batch, ordering=batch_order)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux counts in KiB
    size = output.stat().st_size
    print(
        f"  {seconds:.1f} s, {rows / seconds / 1e6:.1f} M rows/s, {size / rows:.1f} bytes a row, "
        f"peak RSS {peak:.0f} MiB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--write", choices=["in order", "shuffled"], help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write(options.output, options.rows, options.write == "shuffled")
        return
    print(f"\nMemory of a session with {options.rows / 1e6:.0f} M ranges")
    for order in ("in order", "shuffled"):
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "memory.pftrace"
            print(f"{order}:", flush=True)
            arguments = ["--rows", str(options.rows), "--write", order, "--output", str(output)]
            subprocess.run([sys.executable, __file__, *arguments], check=True)
            counted = subprocess.run(
                [program("count_events.c"), output], check=True, capture_output=True, text=True
            )
            begins, ends, _instants, _samples = counted.stdout.split()
            print(f"  counted in the file: {begins} begins, {ends} ends")


if __name__ == "__main__":
    main()
