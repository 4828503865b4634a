# SPDX-License-Identifier: Apache-2.0
"""Whatever a model is made of: balanced ranges that nest as the modules do, unchanged results."""

import nvtx_hooks
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from nvtx_hooks._stack import NOTHING, current_thread
from random_trees import SIZE, build, trees

# Checkpointing tells those who give it nothing to train.
pytestmark = pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad:UserWarning")


def _train(model, *, needs_grad):
    """Run three steps; return results, gradients and what was raised."""
    seen = []
    for step in range(3):
        x = torch.linspace(-1, 1, 2 * SIZE).reshape(2, SIZE) + step
        x.requires_grad_(needs_grad)
        try:
            output = model(x)
            seen.append(output.detach().clone())
            if output.requires_grad:
                output.sum().backward()
        except (ArithmeticError, RuntimeError) as error:
            seen.append((type(error), str(error)))
        assert current_thread().top is NOTHING
        seen += [tensor.grad for tensor in (x, *model.parameters())]
        model.zero_grad()
    return seen


def _same(one, other):
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return torch.equal(one, other)
    return one == other


def _assert_nested(events):
    """Each range lies in one of a module around its own; a recompute, in one that asked for it."""
    opened = []
    for event in events:
        if event.kind == "pop":
            opened.pop()
            continue
        path = event.message.rpartition(":")[0].split(".") if ":" in event.message else []
        if opened:
            outer, category = opened[-1]
            asked = event.category == "recompute" and category == "backward"
            shorter = min(len(outer), len(path)) if asked else len(outer)
            assert path[:shorter] == outer[:shorter], (outer, path)
        opened.append((path, event.category))
    assert opened == []


@settings(max_examples=100, deadline=None)
@given(tree=trees, needs_grad=st.booleans(), recompute=st.sampled_from(["skip", "mark"]))
def test_any_tree_trains_as_bare_with_balanced_nested_ranges(recorder, tree, needs_grad, recompute):
    recorder.clear()
    bare = _train(build(tree), needs_grad=needs_grad)
    model = nvtx_hooks.patch(build(tree), recompute=recompute)
    ours = _train(model, needs_grad=needs_grad)
    assert len(ours) == len(bare)
    assert all(map(_same, ours, bare))
    if "shared" not in str(tree):
        _assert_nested(recorder.events())
    else:
        kinds = [event.kind for event in recorder.events()]
        assert kinds.count("push") == kinds.count("pop")
    assert not nvtx_hooks.is_patched(nvtx_hooks.unpatch(model))
    recorder.clear()
