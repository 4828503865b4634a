# SPDX-License-Identifier: Apache-2.0
"""Compilers, exporters and other tools that look at a model's hooks see nothing of ours."""

import copy
import logging

import nvtx_hooks
import pytest
import torch
import torch._dynamo.testing
from blocks import Apply, Block
from torch import nn

# The compiler itself looks at the gradients of tensors between compiled layers.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")

X = torch.linspace(-1, 1, 8).reshape(2, 4)


class Stack(nn.Sequential):
    def forward(self, x):
        for layer in self:
            x = layer(x)
        return x


def _layers():
    torch.manual_seed(0)
    return Stack(*(Block() for _ in range(8)))


def _compile_counts(model, how):
    """Train two steps; return frames compiled, operators seen, results and graphs."""
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    model = how(model, counter) or model
    results = []
    for _ in range(2):
        output = model(X)
        output.sum().backward()
        results += [output.detach(), *(p.grad.clone() for p in model.parameters())]
    graphs = [_operations(module.graph) for module in counter.graphs]
    return counter.frame_count, counter.op_count, graphs, results


def _operations(graph):
    """The number of placeholders, which come in any order, and each operation and its inputs.

    Inputs are numbered by first use.
    """
    numbers, operations = {}, []
    for node in graph.nodes:
        if node.op != "placeholder":
            inputs = [numbers.setdefault(other, len(numbers)) for other in node.all_input_nodes]
            operations.append((node.op, str(node.target), inputs))
    return len(graph.find_nodes(op="placeholder")), operations


def _one_by_one(model, backend):
    for index, layer in enumerate(model):
        model[index] = torch.compile(layer, backend=backend, fullgraph=True)


def _whole(model, backend):
    return torch.compile(model, backend=backend, fullgraph=True)


def _in_place(model, backend):
    model.compile(backend=backend, fullgraph=True)


@pytest.mark.parametrize("how", [_one_by_one, _whole, _in_place])
@pytest.mark.parametrize("recompute", ["skip", "mark"])
def test_compiling_patched_layers_makes_the_graphs_of_bare_ones(how, recompute, ranges):
    bare = _compile_counts(_layers(), how)
    patched = _compile_counts(nvtx_hooks.patch(_layers(), recompute=recompute), how)
    assert patched[:3] == bare[:3]
    assert all(map(torch.equal, patched[3], bare[3]))
    shown = ranges()
    assert set(shown) <= {"+Stack", "-Stack", "+Stack'", "-Stack'"}


def test_a_graph_with_breaks_breaks_as_often(ranges):
    def forward(self, x):
        x = self.a(x)
        torch._dynamo.graph_break()
        return self.b(x)

    def compile_whole(model, backend):
        model.compile(backend=backend)

    def make():
        torch.manual_seed(0)
        return Apply(forward, a=Block(), b=Block())

    bare = _compile_counts(make(), compile_whole)
    patched = _compile_counts(nvtx_hooks.patch(make()), compile_whole)
    assert patched[:2] == bare[:2]
    assert all(map(torch.equal, patched[3], bare[3]))
    ranges()


def test_the_result_of_compile_shows_one_range_a_call(ranges):
    torch._dynamo.reset()
    model = nvtx_hooks.patch(torch.compile(Block(), backend="aot_eager"))
    for _ in range(2):
        model(X).sum().backward()
    one = "+OptimizedModule -OptimizedModule +OptimizedModule' -OptimizedModule'".split()
    assert ranges() == one * 2


def test_a_compiled_layer_in_an_eager_model_shows_where_it_is(ranges):
    torch._dynamo.reset()
    model = nn.Sequential(torch.compile(Block(), backend="aot_eager"), nn.Linear(4, 4))
    nvtx_hooks.patch(model)(X).sum().backward()
    assert ranges() == (
        "+Sequential +0 -0 +1 -1 -Sequential +Sequential' +1' -1' +0' -0' -Sequential'".split()
    )


def test_a_compiled_backward_pass_computes_as_bare_without_ranges(ranges):
    from torch._dynamo import compiled_autograd

    def run(model):
        torch._dynamo.reset()
        output = model(X).sum()
        with compiled_autograd._enable(torch.compile(backend="eager", fullgraph=True)):
            output.backward()
        return [parameter.grad for parameter in model.parameters()]

    model = Block()
    bare = run(copy.deepcopy(model))
    assert all(map(torch.equal, run(nvtx_hooks.patch(model)), bare))
    assert ranges() == "+Block +a -a +b -b -Block".split()


def test_patching_what_is_compiled_in_place_is_told(caplog):
    model = nn.Sequential(Block())
    model[0].compile(backend="aot_eager")
    with caplog.at_level(logging.WARNING, "nvtx_hooks"):
        nvtx_hooks.patch(model)
    (record,) = caplog.records
    assert record.getMessage().startswith("no ranges in 0: modules compiled in place")


@pytest.mark.parametrize("strict", [False, True])
def test_a_patched_model_exports_as_a_bare_one(strict, ranges):
    bare = torch.export.export(Block(), (X,), strict=strict)
    patched = torch.export.export(nvtx_hooks.patch(Block()), (X,), strict=strict)
    nodes = [[(node.op, str(node.target)) for node in e.graph.nodes] for e in (bare, patched)]
    assert nodes[0] == nodes[1]
    ranges()


def test_symbolic_and_functional_tracing_see_the_bare_model(ranges):
    from torch.fx.experimental.proxy_tensor import make_fx

    bare, patched = Block(), nvtx_hooks.patch(Block())
    codes = [torch.fx.symbolic_trace(model).code for model in (bare, patched)]
    assert codes[0] == codes[1]
    codes = [make_fx(model)(X).code for model in (bare, patched)]
    assert codes[0] == codes[1]
    ranges()


def test_a_fused_layer_in_evaluation_mode_keeps_its_fused_path(caplog):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 2), nn.Linear(8, 8)).eval()
    x = torch.randn(2, 5, 8)
    with torch.no_grad():
        bare = model(x)
        with caplog.at_level(logging.WARNING, "nvtx_hooks"):
            nvtx_hooks.patch(model)
        assert torch.equal(model(x), bare)
    (record,) = caplog.records
    assert "0.layers.0, 0.layers.1: hooks would switch off the fused path" in record.getMessage()


def test_a_transformer_encoder_in_training_shows_all_that_it_calls(ranges):
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0)
    model = nn.TransformerEncoder(layer, 2)
    nvtx_hooks.patch(model)(torch.randn(2, 5, 8, requires_grad=True)).sum().backward()
    lines = ranges()
    for index in range(2):
        for child in ("", ".self_attn", ".linear1", ".norm2"):
            assert lines.count(f"+layers.{index}{child}") == 1
            assert lines.count(f"+layers.{index}{child}'") == 1


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_scripted_and_traced_children_are_skipped_and_told_once(caplog, ranges):
    model = nn.Sequential(
        torch.jit.script(nn.Linear(4, 4)), torch.jit.trace(nn.Linear(4, 4), X), nn.Linear(4, 4)
    )
    with caplog.at_level(logging.WARNING, "nvtx_hooks"):
        nvtx_hooks.patch(model)
    model(X).sum().backward()
    assert [r.getMessage() for r in caplog.records] == [
        "no ranges in 0, 1: TorchScript modules take no Python hooks"
    ]
    assert ranges() == "+Sequential +2 -2 -Sequential +Sequential' +2' -2' -Sequential'".split()
    assert not nvtx_hooks.is_patched(nvtx_hooks.unpatch(model))
    assert nvtx_hooks.patch(model[0]) is model[0]
    assert not nvtx_hooks.is_patched(model)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_dynamic_quantisation_of_a_patched_model_computes_as_of_a_bare_one(ranges):
    def quantised(model):
        return torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU()).eval()
    bare = quantised(copy.deepcopy(model))
    ours = quantised(nvtx_hooks.patch(model))
    assert torch.equal(ours(X), bare(X))
    assert ranges() == "+Sequential +1 -1 -Sequential".split()
    nvtx_hooks.unpatch(ours)
    assert [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in ours.modules()] == [0] * 4


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_static_quantisation_of_a_patched_model_computes_as_of_a_bare_one(ranges):
    def quantised(model):
        model.qconfig = torch.ao.quantization.default_qconfig
        prepared = torch.ao.quantization.prepare(model)
        prepared(X)
        return torch.ao.quantization.convert(prepared)

    torch.manual_seed(0)
    quantization = torch.ao.quantization
    layers = quantization.QuantStub(), nn.Linear(4, 4), nn.ReLU(), quantization.DeQuantStub()
    model = nn.Sequential(*layers).eval()
    bare = quantised(copy.deepcopy(model))
    ours = quantised(nvtx_hooks.patch(model))
    ranges()
    assert torch.equal(ours(X), bare(X))
    assert ranges() == "+Sequential +2 -2 -Sequential".split()  # the others were replaced
    assert torch.equal(nvtx_hooks.patch(ours)(X), bare(X))
    assert ranges() == "+Sequential +0 -0 +1 -1 +2 -2 +3 -3 -Sequential".split()
    nvtx_hooks.unpatch(ours)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in ours.modules())
