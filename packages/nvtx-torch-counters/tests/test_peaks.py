# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from fake_clock import FakeClock
from nvtx_torch_counters import (
    CounterSampler,
    FunctionProbe,
    PeakValue,
    SamplerError,
)

from scripts import printed


class Heap(FunctionProbe):
    """Memory with a high-water mark, as an allocator keeps it."""

    def __init__(self, name: str = "heap") -> None:
        self.used = self.mark = 0
        super().__init__(name, {"used": np.int64}, lambda: (self.used,))

    def allocate(self, size: int) -> None:
        self.used += size
        self.mark = max(self.mark, self.used)

    def reset(self) -> None:
        self.mark = self.used

    def read_peaks(self) -> Mapping[str, int]:
        return {"used": self.mark}


@pytest.fixture
def heap() -> Heap:
    return Heap()


@pytest.fixture
def sampler(heap: Heap, clock: FakeClock) -> CounterSampler:
    made = CounterSampler([heap], clock=clock)
    made.step()
    return made


def test_a_region_that_raises_the_process_peak_has_it_exactly(
    heap: Heap, sampler: CounterSampler
) -> None:
    heap.allocate(100)
    with sampler.peak("step") as region:
        heap.allocate(50)
        heap.allocate(-120)
    sampler.stop()
    assert region.values == {"heap.used": PeakValue(150, exact=True)}
    assert heap.mark == 150


def test_a_region_below_an_earlier_peak_is_bounded_by_samples_and_that_peak(
    heap: Heap, sampler: CounterSampler
) -> None:
    heap.allocate(1_000)
    heap.allocate(-900)
    with sampler.peak("step") as region:
        heap.allocate(50)
        sampler.step()
        heap.allocate(-70)
    sampler.stop()
    assert region.values == {"heap.used": PeakValue(150, exact=False, at_most=1_000)}


def test_a_region_that_ends_at_the_process_peak_is_exact(
    heap: Heap, sampler: CounterSampler
) -> None:
    heap.allocate(100)
    with sampler.peak("idle") as region:
        pass
    sampler.stop()
    assert region.values == {"heap.used": PeakValue(100, exact=True, at_most=100)}


def test_regions_nest_and_each_has_its_own_peak(heap: Heap, sampler: CounterSampler) -> None:
    with sampler.peak("epoch") as epoch:
        with sampler.peak("load") as load:
            heap.allocate(300)
            heap.allocate(-200)
        with sampler.peak("train") as train:
            heap.allocate(50)
    sampler.stop()
    assert epoch.values["heap.used"] == PeakValue(300, exact=True)
    assert load.values["heap.used"] == PeakValue(300, exact=True)
    assert train.values["heap.used"] == PeakValue(150, exact=False, at_most=300)
    assert [r.path for r in (epoch, load, train)] == ["epoch", "epoch/load", "epoch/train"]


def test_a_mark_that_is_reset_inside_is_a_lower_bound(heap: Heap, sampler: CounterSampler) -> None:
    heap.allocate(500)
    heap.allocate(-400)
    with sampler.peak("step") as region:
        heap.reset()
        heap.allocate(30)
        heap.allocate(-30)
    sampler.stop()
    assert region.values == {"heap.used": PeakValue(130, exact=False)}


def test_a_region_counts_what_stood_at_its_begin_and_nothing_before(
    heap: Heap, sampler: CounterSampler
) -> None:
    heap.allocate(700)
    sampler.step()
    heap.allocate(-500)
    with sampler.peak("step") as region:
        heap.allocate(-100)
    sampler.stop()
    assert region.values == {"heap.used": PeakValue(200, exact=False, at_most=700)}


def test_counters_without_a_mark_give_the_greatest_sample(clock: FakeClock) -> None:
    loads = iter([10, 90, 20, 5, 1])
    sampler = CounterSampler(
        [FunctionProbe("load", {"percent": np.int64}, lambda: (next(loads),))], clock=clock
    )
    sampler.step()
    with sampler.peak("step") as region:  # reads 90 at its begin
        sampler.step()
    sampler.stop()
    assert region.values == {"load.percent": PeakValue(90, exact=False)}


def test_regions_of_several_threads_do_not_mix(heap: Heap, sampler: CounterSampler) -> None:
    paths = []

    def work() -> None:
        with sampler.peak("worker") as region:
            paths.append(region.path)

    with sampler.peak("main"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    sampler.stop()
    assert paths == ["worker"]


def test_an_error_inside_passes_and_a_sampler_stopped_inside_still_gives_values(
    heap: Heap, sampler: CounterSampler
) -> None:
    def fail() -> None:
        with region:
            heap.allocate(10)
            sampler.stop()
            raise ValueError("of the user")

    region = sampler.peak("step")
    with pytest.raises(ValueError, match="of the user"):
        fail()
    assert region.values == {"heap.used": PeakValue(10, exact=False)}
    with pytest.raises(SamplerError, match="running sampler"):
        sampler.peak("late")


def test_a_device_that_comes_into_use_inside_a_region_counts_from_zero(clock: FakeClock) -> None:
    gpu = Heap("gpu")

    class Source:
        name = "gpu"
        reasons: Mapping[str, str] = {}

        def discover(self) -> list[Heap]:
            return [gpu] if gpu.used and "gpu" not in sampler.names else []

    sampler = CounterSampler([Source()], clock=clock)
    sampler.step()
    with sampler.peak("first step") as region:
        gpu.allocate(400)
        gpu.allocate(-100)
    sampler.stop()
    assert region.values == {"gpu.used": PeakValue(400, exact=True)}


def test_the_process_peak_is_found_between_two_samples(tmp_path: Path) -> None:
    script = """
    import numpy as np
    from nvtx_torch_counters import CounterSampler, ProcessMemory
    with CounterSampler([ProcessMemory()], interval=3600) as sampler:
        with sampler.peak("spike") as region:
            more = np.ones(128 << 20, np.uint8)
            del more
    peak = region.values["process memory.rss"]
    rss = sampler.samples("process memory").values["rss"]
    print(peak.exact, round((peak.value - rss[0]) / (1 << 20), -1), rss.max() - rss[0] < 16 << 20)
    """
    assert printed(script, tmp_path) == "True 130.0 True\n"
