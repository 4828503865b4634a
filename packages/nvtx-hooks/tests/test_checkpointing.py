# SPDX-License-Identifier: Apache-2.0
"""Activation checkpointing: a recompute is skipped or marked, and never leaves a range open."""

import functools
import logging

import pytest
import torch
from blocks import Apply, Block, Checkpointed
from comparison import assert_unchanged
from torch import nn
from torch.distributed._composable import checkpoint as composable
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    CheckpointImpl,
    checkpoint_wrapper,
)
from torch.utils.checkpoint import (
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
    set_checkpoint_early_stop,
)

FORWARD = "+0 +0.inner +0.inner.a -0.inner.a +0.inner.b -0.inner.b -0.inner -0"


def _input():
    return torch.ones(2, 4, requires_grad=True)


def test_a_recompute_without_reentry_opens_nothing(ranges):
    assert_unchanged(nn.Sequential(Checkpointed(Block())), _input(), steps=1)
    assert (
        ranges()
        == (
            f"+Sequential {FORWARD} -Sequential "
            "+Sequential' +0' +0.inner' +0.inner.b' -0.inner.b' +0.inner.a' -0.inner.a' "
            "-0.inner' -0' -Sequential'"
        ).split()
    )


def test_a_recompute_without_reentry_is_marked_within_what_needs_it(ranges):
    assert_unchanged(nn.Sequential(Checkpointed(Block())), _input(), steps=1, recompute="mark")
    # The first node that needs a saved tensor is the last linear layer's.
    assert (
        ranges()
        == (
            f"+Sequential {FORWARD} -Sequential "
            "+Sequential' +0' +0.inner' +0.inner.b' "
            "+0.inner^ +0.inner.a^ -0.inner.a^ +0.inner.b^ -0.inner.b^ -0.inner^ "
            "-0.inner.b' +0.inner.a' -0.inner.a' -0.inner' -0' -Sequential'"
        ).split()
    )


def test_a_recompute_with_reentry_has_backward_ranges_of_its_own_pass(ranges):
    model = nn.Sequential(Checkpointed(Block(), use_reentrant=True))
    assert_unchanged(model, _input(), steps=1, recompute="mark")
    assert (
        ranges()
        == (
            f"+Sequential {FORWARD} -Sequential "
            "+Sequential' +0' "
            "+0.inner^ +0.inner.a^ -0.inner.a^ +0.inner.b^ -0.inner.b^ -0.inner^ "
            "+0.inner' +0.inner.b' -0.inner.b' +0.inner.a' -0.inner.a' -0.inner' "
            "-0' -Sequential'"
        ).split()
    )


@pytest.mark.parametrize("early_stop", [True, False])
def test_a_recompute_that_stops_early_closes_what_it_opened(early_stop, ranges):
    def forward(self, x):
        return self.a(self.b(x)) + 1

    inner = Apply(forward, a=nn.Identity(), b=nn.Linear(4, 4))
    model = nn.Sequential(Checkpointed(inner, early_stop=early_stop))
    assert_unchanged(model, _input(), steps=2, recompute="mark")
    lines = ranges()
    assert lines.count("+0.inner^") == lines.count("-0.inner^") == 2


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("recompute", ["skip", "mark"])
def test_nested_checkpoints_count_each_module_once_a_phase_and_step(reentrant, recompute, ranges):
    inner = nn.Sequential(Checkpointed(Block(), use_reentrant=reentrant), Block())
    model = nn.Sequential(Block(), Checkpointed(inner, use_reentrant=reentrant), Block())
    assert_unchanged(model, _input(), steps=3, recompute=recompute)
    lines = ranges()
    for path in ("0.a", "1.inner.0.inner.b", "1.inner.1.a", "2"):
        assert lines.count(f"+{path}") == 3
        assert lines.count(f"+{path}'") == 3
    recomputed = 0 if recompute == "skip" else 3 * 2
    assert lines.count("+1.inner.0.inner.b^") == recomputed


def test_sequential_checkpointing_mirrors_forward(ranges):
    stack = nn.Sequential(*(nn.Linear(4, 4) for _ in range(4)))

    def forward(self, x):
        return checkpoint_sequential(self.stack, 2, x, use_reentrant=False)

    assert_unchanged(Apply(forward, stack=stack), _input(), steps=2)
    lines = ranges()
    assert [lines.count(f"+stack.{index}'") for index in range(4)] == [2, 2, 2, 2]


def _selective(inner):
    keep = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.addmm.default])
    return Checkpointed(inner, context_fn=keep)


FORMS = {
    "selective": _selective,
    "debug": lambda inner: Checkpointed(inner, debug=True),
    "no random state": lambda inner: Checkpointed(inner, preserve_rng_state=False),
    "wrapper": lambda inner: Apply(lambda self, x: self.inner(x), inner=checkpoint_wrapper(inner)),
    "reentrant wrapper": lambda inner: Apply(
        lambda self, x: self.inner(x),
        inner=checkpoint_wrapper(inner, checkpoint_impl=CheckpointImpl.REENTRANT),
    ),
    "composable": lambda inner: Apply(lambda self, x: self.inner(x), inner=composable(inner)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("recompute", ["skip", "mark"])
def test_every_form_of_checkpointing_shows_each_module_once_a_phase(
    form, recompute, ranges, monkeypatch
):
    # With debug=True, PyTorch logs records that only a handler of its own can format.
    monkeypatch.setattr(logging.getLogger("LoggingTensor"), "propagate", False)
    model = nn.Sequential(FORMS[form](Block()), Block())
    assert_unchanged(model, _input(), steps=2, recompute=recompute)
    lines = [line.replace("._checkpoint_wrapped_module", "") for line in ranges()]
    for path in ("0.inner.a", "0.inner.b", "1.a", "0", "Sequential"):
        assert lines.count(f"+{path}") == 2
        assert lines.count(f"+{path}'") == 2
    recomputed = 0 if recompute == "skip" else 2
    assert lines.count("+0.inner.b^") == recomputed


@pytest.mark.parametrize("recompute", ["skip", "mark"])
def test_a_recompute_without_early_stop_for_a_whole_block_of_code_balances(recompute, ranges):
    with set_checkpoint_early_stop(False):
        model = nn.Sequential(Checkpointed(Block()))
        assert_unchanged(model, _input(), steps=1, recompute=recompute)
    lines = ranges()
    assert lines.count("+0.inner^") == lines.count("-0.inner^") == (recompute == "mark")
