# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import mmap
import os
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from nvtx_torch_counters import (
    CgroupMemory,
    CounterSampler,
    ProcessCpu,
    ProcessMemory,
    ProcessObjects,
    Unavailable,
)

MIB = 1 << 20


def test_touched_memory_moves_rss_by_its_size_and_leaves_when_freed() -> None:
    sampler = CounterSampler([ProcessMemory()])
    sampler.step()
    # Mapped, so that malloc does not serve it from memory that is resident already.
    array = np.frombuffer(mmap.mmap(-1, 64 * MIB, flags=mmap.MAP_PRIVATE), np.uint8)
    array.fill(1)
    sampler.step()
    del array
    sampler.step()
    sampler.stop()
    before, with_array, after, _ = sampler.samples("process memory").values["rss"].tolist()
    assert abs(with_array - before - 64 * MIB) < 4 * MIB
    assert abs(with_array - after - 64 * MIB) < 4 * MIB
    assert sampler.samples("process memory").unit("rss") == "bytes"


def test_rss_is_what_the_system_says() -> None:
    probe = ProcessMemory()
    probe.open()
    rss, shared = probe.read()  # type: ignore[misc]
    theirs = psutil.Process().memory_info()
    probe.close()
    assert abs(rss - theirs.rss) < 4 * MIB
    assert abs(shared - theirs.shared) < 4 * MIB


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_the_memory_file_is_opened_once_and_closed() -> None:
    files = open_files()
    probe = ProcessMemory()
    for _ in range(3):
        probe.open()
        assert open_files() == files + 1
    probe.close()
    assert open_files() == files
    with pytest.raises(Unavailable, match="not open"):
        probe.read()


def test_a_memory_file_that_cannot_be_read_is_an_error_not_the_last_value() -> None:
    probe = ProcessMemory()
    probe.open()
    probe.read()
    assert probe._statm is not None
    os.close(probe._statm.file)
    with pytest.raises(OSError, match="statm"):
        probe.read()
    probe._statm = None


def test_the_peak_is_at_least_what_was_resident() -> None:
    probe = ProcessMemory()
    probe.open()
    array = np.ones(32 * MIB, np.uint8)
    rss = probe.read()[0]  # type: ignore[index]
    peak = probe.read_peaks()["rss"]
    probe.close()
    assert len(array) == 32 * MIB
    assert peak >= rss - 4 * MIB


def test_cpu_is_a_share_of_the_usable_cpus_since_the_last_read() -> None:
    probe = ProcessCpu()
    probe.open()
    until = time.process_time_ns() + 50_000_000
    while time.process_time_ns() < until:
        pass
    percent, cores = probe.read()  # type: ignore[misc]
    probe.close()
    assert 0 < percent <= 100
    usable = len(os.sched_getaffinity(0))
    assert percent == pytest.approx(min(100, 100 * cores / usable))
    assert probe.schema.fields["percent"].semantics.max == 100.0  # type: ignore[union-attr]


def test_a_share_over_no_time_is_unknown_not_zero() -> None:
    probe = ProcessCpu()
    probe.open()
    probe._wall += 10**9
    with pytest.raises(Unavailable):
        probe.read()


def test_threads_and_files_are_counted() -> None:
    probe = ProcessObjects()
    probe.open()
    threads, files = probe.read()  # type: ignore[misc]
    release = threading.Event()
    extra = threading.Thread(target=release.wait)
    extra.start()
    with Path(os.devnull).open():
        assert probe.read() == (threads + 1, files + 1)
    release.set()
    extra.join()
    probe.close()


def written(folder: Path, files: dict[str, str]) -> tuple[str, str]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(folder / "proc"), str(folder / "mnt")


def test_a_limited_control_group_shows_its_use_and_limit(tmp_path: Path) -> None:
    places = written(
        tmp_path,
        {
            "proc/self/cgroup": "0::/pod/job\n",
            "mnt/pod/job/memory.max": "max\n",
            "mnt/pod/job/memory.current": "5\n",
            "mnt/pod/memory.max": "1048576\n",
            "mnt/pod/memory.current": "4096\n",
        },
    )
    probe = CgroupMemory(*places)
    assert probe.read() == (4096,)
    assert probe.schema.fields["used"].semantics.max == 1048576  # type: ignore[union-attr]


def test_the_first_version_of_control_groups_is_read_too(tmp_path: Path) -> None:
    places = written(
        tmp_path,
        {
            "proc/self/cgroup": "5:cpu:/other\n9:memory:/docker/abc\n",
            "mnt/memory/memory.limit_in_bytes": "2048\n",  # seen from inside: the mount itself
            "mnt/memory/memory.usage_in_bytes": "1024\n",
        },
    )
    probe = CgroupMemory(*places)
    assert (probe.read(), probe.limit) == ((1024,), 2048)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"proc/self/cgroup": "0::/\n"},
        {"proc/self/cgroup": "0::/\n", "mnt/memory.max": "max", "mnt/memory.current": "1"},
        {
            "proc/self/cgroup": "3:memory:/\n",
            "mnt/memory/memory.limit_in_bytes": "9223372036854771712",
            "mnt/memory/memory.usage_in_bytes": "1",
        },
    ],
)
def test_without_a_limit_there_is_no_counter_but_a_reason(
    tmp_path: Path, files: dict[str, str]
) -> None:
    with pytest.raises(Unavailable, match="control group"):
        CgroupMemory(*written(tmp_path, files))
