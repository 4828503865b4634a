# SPDX-License-Identifier: Apache-2.0
"""Other places than the nvtx package for ranges to go."""

import nvtx_hooks
import pytest
import torch
from blocks import Block, Checkpointed
from torch import nn
from torch.profiler import ProfilerActivity, profile


def test_annotations_of_the_profiler_nest_as_modules_do(recorder):
    model = nvtx_hooks.patch(nn.Sequential(Checkpointed(Block())), emitter="record_function")
    x = torch.ones(2, 4, requires_grad=True)
    model(x).sum().backward()
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        model(x).sum().backward()
    own = {"Sequential", "0: Checkpointed", "0.inner: Block", "0.inner.a: Linear"}
    shown = [event for event in profiler.events() if event.name in own]
    assert sorted(event.name for event in shown) == sorted([*own, *own])
    for event in shown:
        outer = event.cpu_parent
        while outer is not None and outer.name not in own:
            outer = outer.cpu_parent
        expected = {"0: Checkpointed": "Sequential", "0.inner: Block": "0: Checkpointed"}
        if event.name in expected:
            assert outer.name == expected[event.name]
    assert recorder.events() == []


def test_a_profiler_that_starts_and_stops_within_a_call_finds_balance():
    model = nvtx_hooks.patch(nn.Sequential(nn.Linear(4, 4)), emitter="record_function")
    profilers = []

    def toggle(*_):
        if not profilers:
            profilers.append(profile(activities=[ProfilerActivity.CPU]))
            profilers[0].start()

    model[0].register_forward_hook(toggle)
    model(torch.ones(1, 4))
    model(torch.ones(1, 4))
    profilers[0].stop()
    names = [event.name for event in profilers[0].events()]
    assert names.count("Sequential") == 1
    assert names.count("0: Linear") == 1


@pytest.mark.skipif(
    bool(torch.version.cuda or torch.version.hip), reason="this PyTorch has NVTX of its own"
)
def test_a_build_without_nvtx_refuses_its_own_emitter_with_advice():
    model = nn.Linear(1, 1)
    with pytest.raises(nvtx_hooks.EmitterError, match="use emitter='nvtx'"):
        nvtx_hooks.patch(model, emitter="torch")
    assert not nvtx_hooks.is_patched(model)


@pytest.mark.skipif(
    not (torch.version.cuda or torch.version.hip), reason="this PyTorch has no NVTX of its own"
)
def test_a_build_with_nvtx_emits_in_the_default_domain(recorder):
    nvtx_hooks.patch(nn.Identity(), emitter="torch")(1)
    assert [event.kind for event in recorder.events()] == ["push", "pop"]
    assert {event.domain for event in recorder.events()} == {""}
