# SPDX-License-Identifier: Apache-2.0
"""Where backward ranges begin and end, in all the ways that gradients travel."""

import dataclasses

import nvtx
import nvtx_hooks
import pytest
import torch
from blocks import Apply, Block
from comparison import assert_unchanged
from torch import nn

BLOCK = "+Block' +b' -b' +a' -a' -Block'".split()


@dataclasses.dataclass
class Output:
    first: torch.Tensor
    rest: tuple


class Named(dict):
    pass


def _input():
    return torch.ones(2, 4, requires_grad=True)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda x: [x, None],
        lambda x: {"x": {"y": [x]}},
        lambda x: Named(x=x),
        lambda x: Output(first=x, rest=(3,)),
        lambda x: Output(first=torch.ones(1), rest=({"deep": x},)),
        lambda x: (x, None, 3),
    ],
    ids=["list", "dict", "subclass", "dataclass", "nested", "tuple"],
)
def test_tensors_are_found_in_any_container(wrap, ranges):
    def tensor(output):
        return next(leaf for leaf in _leaves(output) if leaf.requires_grad).sum()

    model = Apply(lambda self, x: wrap(self.a(x)), a=nn.Linear(4, 4))
    assert_unchanged(model, _input(), loss=tensor, steps=1)
    assert ranges()[-4:] == "+Apply' +a' -a' -Apply'".split()


def _leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, Output):
        value = [value.first, value.rest]
    items = value.values() if isinstance(value, dict) else value
    nested = isinstance(items, (list, tuple)) or isinstance(value, dict)
    return [leaf for item in items for leaf in _leaves(item)] if nested else []


def test_no_output_with_a_gradient_gives_no_backward_range(ranges):
    model = Apply(lambda self, x: self.a(x).detach(), a=nn.Linear(4, 4))
    assert_unchanged(model, _input(), steps=1)
    assert ranges() == "+Apply +a -a -Apply".split()


def test_a_generator_is_returned_as_it_is(ranges):
    def forward(self, x):
        yield self.a(x)

    model = nvtx_hooks.patch(Apply(forward, a=nn.Linear(4, 4)))
    (output,) = model(_input())
    output.sum().backward()
    assert ranges() == "+Apply -Apply +a -a +a' -a'".split()


def test_in_place_operations_on_inputs_and_outputs_work(ranges):
    def forward(self, x):
        y = self.a(x)
        y += 1
        return self.b(self.act(y)).mul_(2)

    model = Apply(forward, a=nn.Linear(4, 4), act=nn.ReLU(inplace=True), b=nn.Linear(4, 4))
    assert_unchanged(model, _input(), steps=1)
    assert ranges()[-8:] == "+Apply' +b' -b' +act' -act' +a' -a' -Apply'".split()


def test_modules_that_share_an_input_follow_each_other(ranges):
    layers = {name: nn.Linear(4, 4) for name in "qkv"}
    model = Apply(lambda self, x: self.q(x) * self.k(x) + self.v(x), **layers)
    assert_unchanged(nn.Sequential(nn.Linear(4, 4), model), _input(), steps=1)
    assert ranges()[-12:] == (
        "+Sequential' +1' +1.v' -1.v' +1.k' -1.k' +1.q' -1.q' -1' +0' -0' -Sequential'".split()
    )


class Marking(torch.autograd.Function):
    """Marks when the gradient passes."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        nvtx.get_domain("torch.nn").mark(message="passed")
        return grad


@pytest.mark.parametrize(
    ("first", "x"),
    [
        (nn.Embedding(9, 4), torch.tensor([1, 2])),
        (nn.Linear(4, 4), torch.ones(2, 3, 4)),
        (Block(), torch.ones(2, 4)),
    ],
    ids=["embedding", "linear", "block"],
)
def test_without_an_input_gradient_a_range_ends_with_its_own_work(first, x, ranges):
    def forward(self, x):
        scale = Marking.apply(self.scale.weight)
        return self.last(self.first(x)) * scale.sum()

    layers = {"scale": nn.Linear(1, 1), "first": first, "last": nn.Linear(4, 4)}
    model = nn.Sequential(Apply(forward, **layers), nn.Identity())
    assert_unchanged(model, x, steps=1)
    lines = ranges()
    assert lines[-3:] == "!passed -0' -Sequential'".split()
    assert lines[-4] == "-0.first'"


@pytest.mark.parametrize(
    ("operations", "end"), [(14, "-first' !passed -Apply'"), (18, "!passed -first' -Apply'")]
)
def test_the_end_of_a_first_module_is_looked_for_among_16_nodes(operations, end, ranges):
    def first(self, x):
        for _ in range(operations):
            x = x * self.weight
        return x

    def forward(self, x):
        scale = Marking.apply(self.scale.weight)
        return self.last(self.first(x)) * scale.sum()

    inner = Apply(first)
    inner.register_parameter("weight", nn.Parameter(torch.ones(4)))
    layers = {"scale": nn.Linear(1, 1), "first": inner, "last": nn.Linear(4, 4)}
    assert_unchanged(Apply(forward, **layers), torch.ones(2, 4), steps=1)
    assert ranges()[-7:] == f"+Apply' +last' -last' +first' {end}".split()


def test_without_an_input_gradient_ranges_mirror_forward(ranges):
    model = nn.Sequential(nn.Embedding(9, 4), nn.Linear(4, 4))
    assert_unchanged(model, torch.tensor([1, 2]), steps=1)
    assert ranges()[-6:] == "+Sequential' +1' -1' +0' -0' -Sequential'".split()


def test_frozen_parts_between_trained_ones_are_balanced(ranges):
    model = nn.Sequential(nn.Linear(4, 4), Block(), nn.Linear(4, 4))
    model[1].requires_grad_(requires_grad=False)
    assert_unchanged(model, torch.ones(2, 4))
    expected = "+Sequential' +2' -2' +1' +1.b' -1.b' +1.a' -1.a' -1' +0' -0' -Sequential'".split()
    lines = ranges()
    assert lines[-12:] == expected


def test_a_frozen_first_part_has_no_backward_range(ranges):
    model = nn.Sequential(nn.Linear(4, 4), Block())
    model[0].requires_grad_(requires_grad=False)
    assert_unchanged(model, torch.ones(2, 4), steps=1)
    assert "+0'" not in ranges()


def test_a_partial_backward_opens_only_what_it_reaches(ranges):
    kept = []
    first, second = Block(), Block()
    model = nvtx_hooks.patch(Apply(_keeping(kept), first=first, second=second))
    output = model(torch.ones(2, 4))
    ranges()
    torch.autograd.grad(output.sum(), kept[0], retain_graph=True)
    assert ranges() == (
        "+Apply' +second' +second.b' -second.b' +second.a' -second.a' -second' -Apply'".split()
    )
    kept[0].sum().backward(retain_graph=True)
    assert ranges() == "+first' +first.b' -first.b' +first.a' -first.a' -first'".split()
    output.sum().backward()
    assert ranges() == (
        "+Apply' +second' +second.b' -second.b' +second.a' -second.a' -second' "
        "+first' +first.b' -first.b' +first.a' -first.a' -first' -Apply'".split()
    )


def test_a_pass_for_a_parameter_alone_opens_the_modules_on_the_way(ranges):
    model = nvtx_hooks.patch(Block())
    loss = model(torch.ones(2, 4)).sum()
    ranges()
    torch.autograd.grad(loss, model.a.bias, retain_graph=True)
    assert ranges() == BLOCK
    loss.backward(inputs=[model.a.weight], retain_graph=True)
    assert ranges() == BLOCK
    torch.autograd.grad(loss, model.b.bias)
    assert ranges() == "+Block' +b' -b' -Block'".split()


def test_a_range_ends_where_the_gradient_asked_for_arrives(ranges):
    kept = []
    model = nvtx_hooks.patch(Apply(_keeping(kept), first=nn.Linear(4, 4), second=nn.Linear(4, 4)))
    other = nn.Linear(4, 4)
    output = model(torch.ones(2, 4)) + other(kept[0] * 2)
    kept[0].register_hook(lambda _: nvtx.push_range("arrived") or nvtx.pop_range())
    ranges()
    torch.autograd.grad(output.sum(), kept[0])
    assert ranges() == "+Apply' +second' -second' +arrived -arrived -Apply'".split()


def _keeping(kept):
    def forward(self, x):
        kept.append(self.first(x))
        return self.second(kept[0])

    return forward


def test_each_pass_over_a_retained_graph_is_shown(ranges):
    model = nvtx_hooks.patch(Block())
    loss = model(_input()).sum()
    ranges()
    loss.backward(retain_graph=True)
    loss.backward()
    assert ranges() == BLOCK * 2


@pytest.mark.parametrize("leaf", [True, False])
def test_second_order_gradients_balance(leaf, ranges):
    model = Block()

    def run(net):
        x = torch.full((2, 4), 0.5, requires_grad=True)
        inner = x if leaf else x * 1
        (grad,) = torch.autograd.grad(net(inner).pow(3).sum(), inner, create_graph=True)
        grad.pow(2).sum().backward()
        return x.grad, [parameter.grad.clone() for parameter in net.parameters()]

    bare = run(model)
    model.zero_grad()
    ours = run(nvtx_hooks.patch(model))
    assert torch.equal(bare[0], ours[0])
    assert all(map(torch.equal, bare[1], ours[1]))
    lines = ranges()
    assert lines.count("+Block'") == 2
    assert lines.count("+a'") == 2


def test_a_backward_pass_inside_a_forward_nests_in_it(ranges):
    def forward(self, x):
        with torch.enable_grad():
            energy = self.net(x).sum()
            return torch.autograd.grad(energy, x, create_graph=True)[0]

    model = Apply(forward, net=nn.Linear(4, 1))
    assert_unchanged(model, _input(), steps=1)
    assert ranges()[:6] == "+Apply +net -net +net' -net' -Apply".split()


def test_gradients_accumulate_over_micro_batches(ranges):
    model = nvtx_hooks.patch(Block())
    losses = [model(_input()).sum() for _ in range(3)]
    ranges()
    for loss in losses:
        loss.backward()
    assert ranges() == BLOCK * 3


def test_a_module_called_twice_and_one_that_calls_itself_have_a_range_a_call(ranges):
    def forward(self, x, depth=1):
        return self.a(self.a(x)) if depth == 0 else self(x, depth - 1)

    assert_unchanged(Apply(forward, a=nn.Linear(4, 4)), _input(), steps=1)
    assert ranges() == (
        "+Apply +Apply +a -a +a -a -Apply -Apply "
        "+Apply' +Apply' +a' -a' +a' -a' -Apply' -Apply'".split()
    )


def test_a_module_that_returns_its_input_has_an_empty_backward_range(ranges):
    model = nn.Sequential(nn.Linear(4, 4), nn.Identity(), nn.Linear(4, 4))
    assert_unchanged(model, _input(), steps=1)
    assert ranges()[-8:] == "+Sequential' +2' -2' +1' -1' +0' -0' -Sequential'".split()


def test_without_backward_hooks_only_forward_is_shown(ranges):
    model = nvtx_hooks.patch(Block(), None, add_backward_hooks=False)
    model(_input()).sum().backward()
    assert ranges() == "+Block +a -a +b -b -Block".split()


def test_keyword_inputs_end_a_range_too(ranges):
    inner = Apply(lambda self, *, x: self.a(x), a=nn.Linear(4, 4))
    model = Apply(lambda self, x: self.inner(x=self.pre(x)), inner=inner, pre=nn.Linear(4, 4))
    assert_unchanged(model, _input(), steps=1)
    assert ranges()[-8:] == (
        "+Apply' +inner' +inner.a' -inner.a' -inner' +pre' -pre' -Apply'".split()
    )
