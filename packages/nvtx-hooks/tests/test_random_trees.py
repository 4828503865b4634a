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
    """Each range lies in a range of a module around its own, of the same phase or of none."""
    open_paths = []
    for event in events:
        if event.kind == "pop":
            open_paths.pop()
            continue
        path = event.message.rpartition(":")[0].split(".") if ":" in event.message else []
        if open_paths:
            outer = open_paths[-1]
            assert path[: len(outer)] == outer, (outer, path)
        open_paths.append(path)
    assert open_paths == []


@settings(max_examples=150, deadline=None)
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
