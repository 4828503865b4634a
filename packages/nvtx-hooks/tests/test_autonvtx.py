# SPDX-License-Identifier: Apache-2.0
"""The drop-in has the names, labels and habits of the module that it stands in for."""

import inspect
import threading

import nvtx_hooks
import torch
from blocks import Apply, Block
from nvtx_hooks import autonvtx
from torch import nn


def _pushes(recorder):
    return [event.message for event in recorder.events() if event.kind == "push"]


def test_labels_are_child_and_class_in_the_default_domain(recorder):
    model = autonvtx.patch(nn.Sequential(Block()))
    model(torch.ones(1, 4)).sum().backward()
    names = ["Sequential", "0: Block", "a: Linear", "b: Linear"]
    backward = ["Sequential", "0: Block", "b: Linear", "a: Linear"]
    assert _pushes(recorder) == names + backward
    assert {event.domain for event in recorder.events()} == {""}


def test_a_name_and_no_backward_hooks(recorder):
    model = autonvtx.patch(Block(), "net", add_backward_hooks=False)
    model(torch.ones(1, 4)).sum().backward()
    assert _pushes(recorder) == ["net: Block", "a: Linear", "b: Linear"]


def test_signatures_are_those_of_the_original():
    assert str(inspect.signature(autonvtx.patch, eval_str=False).replace()).startswith("(model")
    for function, names in (
        (autonvtx.patch, ["model", "name", "add_backward_hooks"]),
        (autonvtx._add_nvtx_hooks, ["model", "name", "add_backward_hooks"]),
        (autonvtx._get_active_ranges, []),
    ):
        parameters = inspect.signature(function).parameters
        assert list(parameters) == names
    assert inspect.signature(autonvtx.patch).parameters["name"].default is None
    assert autonvtx.__all__ == ["patch"]
    assert isinstance(autonvtx._thread_local, threading.local)


def test_one_module_alone_can_be_hooked_under_any_name(recorder):
    model = Block()
    assert autonvtx._add_nvtx_hooks(model, "anything") is None
    model(torch.ones(1, 4))
    assert _pushes(recorder) == ["anything"]


def test_active_ranges_are_the_labels_open_in_this_thread():
    seen = []

    def forward(self, x):
        seen.append(autonvtx._get_active_ranges())
        return self.inner(x)

    inner = Apply(lambda self, x: seen.append(autonvtx._get_active_ranges()))
    autonvtx.patch(Apply(forward, inner=inner))(1)
    assert seen == [{"Apply"}, {"Apply", "inner: Apply"}]
    assert autonvtx._get_active_ranges() == set()
    assert isinstance(autonvtx._get_active_ranges(), set)


def test_patching_twice_adds_nothing_and_unpatching_undoes_it(recorder):
    model = Block()
    autonvtx.patch(autonvtx.patch(model))
    model(torch.ones(1, 4))
    assert _pushes(recorder) == ["Block", "a: Linear", "b: Linear"]
    assert not nvtx_hooks.is_patched(nvtx_hooks.unpatch(model))
