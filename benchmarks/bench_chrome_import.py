# SPDX-License-Identifier: Apache-2.0
"""How fast is a Chrome trace converted, and in how much memory?

The conversion runs in a process of its own, whose peak resident set is printed. The peer is what
any tool without streaming does first: the standard library's `json.load` of the whole file.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EVENTS = 300_000
BATCH = 50_000

CONVERT = "import sys; from nvtx_replay.cli import main; main(sys.argv[1:])"
LOAD = "import gzip, json, sys; json.load(gzip.open(sys.argv[1]))"


def write_events(path: Path, count: int) -> None:
    """Write operators of four threads with arguments, every tenth tied to the fifth after it."""
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write('{"baseTimeNanoseconds": 1700000000000000000, "traceEvents": [\n')
        for first in range(0, count, BATCH):
            file.write("".join(map(event, range(first, min(first + BATCH, count)))))
        file.write('{"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "bench"}}]}')


def event(at: int) -> str:
    """Give one operator and, for some, the end of an arrow."""
    place = f'"pid":7,"tid":{7 + at % 4},"ts":{at * 10}.{at % 1000:03}'
    text = (
        f'{{"ph":"X","cat":"cpu_op","name":"op {at % 300}",{place},"dur":5.250,'
        f'"args":{{"External id":{at},"Input Dims":[[16,{at % 64}],[]],"Ev Idx":{at}}}}},\n'
    )
    if at % 5 == 0:
        phase, source = ("s", at) if at % 10 == 0 else ("f", at - 5)
        text += f'{{"ph":"{phase}","id":{source},"cat":"fwdbwd","name":"f",{place},"bp":"e"}},\n'
    return text


def measured(code: str, *arguments: str) -> float:
    """Run Python code in a process of its own; give its seconds."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code, *arguments], check=True)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS)
    count = parser.parse_args().events
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "in.json.gz", Path(folder) / "out.pftrace"
        write_events(source, count)
        seconds = measured(CONVERT, "convert", str(source), "-o", str(output))
        # Linux counts in KiB, and keeps the largest of all children: the conversion comes first.
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        loading = measured(LOAD, str(source))
        loaded = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        written = output.stat().st_size
    print(f"\nConversion of a Chrome trace with {count / 1e6:.1f} M ranges, gzip")
    print(
        f"  nvtx-replay convert: {seconds:.1f} s, {count / seconds / 1e3:.0f} k ranges/s, "
        f"{written / count:.1f} bytes a range, peak RSS {peak:.0f} MiB"
    )
    print(
        f"  json.load alone: {loading:.1f} s, peak RSS {loaded:.0f} MiB; "
        f"the conversion takes {seconds / loading:.1f}x as long"
    )


if __name__ == "__main__":
    main()
