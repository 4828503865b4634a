# SPDX-License-Identifier: Apache-2.0
"""Patching changes nothing about a model but what a tool sees."""

import copy
import inspect
import io
import multiprocessing
import pickle
import subprocess
import sys
from collections import OrderedDict

import nvtx_hooks
import pytest
import torch
from blocks import Apply, Block
from spawned import run_spawned
from torch import nn
from torch.overrides import TorchFunctionMode

X = torch.linspace(-1, 1, 8).reshape(2, 4)


def _saved(model):
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


COPIES = {
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "torch.save": _saved,
    "replica": lambda model: model._replicate_for_data_parallel(),
}


def _snapshot(model):
    """Everything on every module: the objects in its dict, and what its own dicts hold."""
    return [
        (type(module), list(module.__dict__.items()), [_contents(v) for v in vars(module).values()])
        for module in model.modules()
    ]


def _contents(value):
    return list(value.items()) if isinstance(value, (dict, OrderedDict)) else None


def _same(one, other):
    return len(one) == len(other) and all(
        a[0] is b[0]
        and [k for k, _ in a[1]] == [k for k, _ in b[1]]
        and a[2] == b[2]
        and all(x is y for (_, x), (_, y) in zip(a[1], b[1], strict=True))
        for a, b in zip(one, other, strict=True)
    )


def test_unpatching_restores_every_module_exactly_and_spares_others_hooks():
    model = nn.Sequential(Block(), nn.Linear(4, 4))
    calls = []
    model[1].register_forward_hook(lambda *_, **__: calls.append("after"), with_kwargs=True)
    model[1].register_forward_hook(lambda *_: calls.append("always"), always_call=True)
    before = _snapshot(model)
    nvtx_hooks.patch(model)
    assert not _same(before, _snapshot(model))
    handle = model[1].register_forward_pre_hook(
        lambda *_, **__: calls.append("before"), with_kwargs=True
    )
    nvtx_hooks.patch(model)
    assert nvtx_hooks.unpatch(model) is model
    model(X)
    assert calls == ["before", "after", "always"]
    handle.remove()
    assert _same(before, _snapshot(model))
    assert not nvtx_hooks.is_patched(model)


def test_a_context_restores_after_an_exception_what_it_patched_itself():
    model = nn.Sequential(Block(), nn.Linear(4, 4))
    nvtx_hooks.patch(model[0])
    before = _snapshot(model)

    def fail():
        with nvtx_hooks.patched(model) as target:
            assert target is model
            assert nvtx_hooks.is_patched(model[1])
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert _same(before, _snapshot(model))
    assert nvtx_hooks.is_patched(model[0])
    nvtx_hooks.unpatch(model)


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("used", [False, True])
def test_a_copy_computes_with_its_own_weights_and_shows_ranges(how, used, ranges):
    model = nvtx_hooks.patch(nn.Linear(4, 4), "net", shapes=True)
    if used:
        model(X).sum().backward()
    expected = model(X)
    ranges()
    other = COPIES[how](model)
    other.__dict__["_parameters"] = {
        name: nn.Parameter(torch.zeros_like(parameter))
        for name, parameter in model._parameters.items()
    }
    assert torch.equal(other(X), torch.zeros(2, 4))
    assert ranges() == ["+net", "-net"]
    assert torch.equal(model(X), expected)
    assert ranges() == ["+net", "-net"]


def test_type_signature_state_dict_and_attributes_are_as_before():
    model = Block()
    kind, names = type(model), dir(model)
    signatures = inspect.signature(model), inspect.signature(model.forward)
    state, text = list(model.state_dict()), repr(model)
    nvtx_hooks.patch(model)
    assert type(model) is kind
    assert set(dir(model)) - set(names) == {"_nvtx_hooks_label"}
    assert (inspect.signature(model), inspect.signature(model.forward)) == signatures
    assert list(model.state_dict()) == state
    assert repr(model) == text
    assert "forward" not in vars(model)
    Block().load_state_dict(model.state_dict(), strict=True)


def test_outputs_are_the_very_objects_that_forward_returns():
    results = [object(), [torch.ones(1)], {"x": X}, (X, None), X]
    model = nvtx_hooks.patch(Apply(lambda self, result: result))
    assert all(model(result) is result for result in results)


def test_exceptions_pass_as_the_same_objects():
    error = LookupError("mine")

    def forward(self):
        raise error

    with pytest.raises(LookupError) as caught:
        nvtx_hooks.patch(Apply(forward))()
    assert caught.value is error


def test_vmap_grad_and_inference_mode_compute_as_before(ranges):
    model = Block()
    parameters = dict(model.named_parameters())

    def loss(parameters, x):
        return torch.func.functional_call(model, parameters, (x,)).sum()

    def run():
        with torch.inference_mode():
            inferred = model(X)
        mapped = torch.func.vmap(model)(X)
        gradients = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, X)
        return [inferred, mapped, *gradients.values()]

    bare = run()
    nvtx_hooks.patch(model)
    assert all(map(torch.equal, bare, run()))
    assert ranges() == "+Block +a -a +b -b -Block".split() * 3


# Forward-mode differentiation scripts its decompositions on first use.
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_forward_mode_and_nested_transforms_compute_as_before(ranges):
    model = Block()

    def run():
        value, tangent = torch.func.jvp(model, (X,), (torch.ones_like(X),))
        with torch.autograd.forward_ad.dual_level():
            dual = model(torch.autograd.forward_ad.make_dual(X, torch.ones_like(X)))
            unpacked = torch.autograd.forward_ad.unpack_dual(dual)
        hessian = torch.func.hessian(lambda x: model(x).pow(2).sum())(X)
        return [value, tangent, *unpacked, torch.func.jacrev(model)(X), hessian]

    bare = run()
    nvtx_hooks.patch(model)
    assert all(map(torch.equal, bare, run()))
    assert ranges() == "+Block +a -a +b -b -Block".split() * 4


def test_a_spawned_process_gets_a_model_that_computes_and_shows_ranges():
    model = nvtx_hooks.patch(Block(), "net")
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=run_spawned, args=(model, X, sending))
    process.start()
    sending.close()
    output, lines = receiving.recv()
    process.join()
    assert process.exitcode == 0
    assert torch.equal(torch.tensor(output), model(X).detach())
    assert lines == "+net +net.a -net.a +net.b -net.b -net".split()


def test_torch_function_modes_and_subclasses_do_not_see_the_hooks():
    class Counting(TorchFunctionMode):
        def __init__(self):
            self.names = []

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.names.append(str(func))
            return func(*args, **(kwargs or {}))

    class Tensor(torch.Tensor):
        seen = 0

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.seen += 1
            return super().__torch_function__(func, types, args, kwargs)

    def run(model):
        Tensor.seen = 0
        with Counting() as counting:
            model(X.clone().requires_grad_())
        model(X.clone().as_subclass(Tensor).requires_grad_())
        return counting.names, Tensor.seen

    model = Block()
    bare = run(model)
    assert run(nvtx_hooks.patch(model)) == bare


def test_the_graph_frees_its_tensors_and_leaves_get_no_hooks():
    import gc
    import weakref

    model = nvtx_hooks.patch(Block())
    x = X.clone().requires_grad_()
    gc.disable()
    try:
        output = model(x)
        freed = weakref.ref(output)
        del output
        assert freed() is None
    finally:
        gc.enable()
    tensors = [x, *model.parameters()]
    assert all(not tensor._backward_hooks for tensor in tensors)


def test_without_a_tool_nothing_is_installed_and_one_message_says_so():
    code = """
import logging, torch, nvtx_hooks
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s")
model = torch.nn.Sequential(torch.nn.Linear(1, 1))
copy = lambda value: dict(value) if hasattr(value, "items") else value
before = {key: copy(value) for key, value in vars(model).items()}
assert nvtx_hooks.patch(model) is model
assert not nvtx_hooks.is_patched(model)
assert vars(model) == before
nvtx_hooks.patch(model, force=True)
assert nvtx_hooks.is_patched(model)
model(torch.ones(1)).sum().backward()
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={"PATH": "", "HOME": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == "INFO nvtx_hooks\n"
