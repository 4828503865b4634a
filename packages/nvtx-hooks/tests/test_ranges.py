# SPDX-License-Identifier: Apache-2.0
"""Which ranges a patched model shows, in which order."""

import nvtx_hooks
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def forward(self, x):
        return x + self.b(torch.relu(self.a(x)))


def test_children_lie_within_parents_and_backward_mirrors_forward(ranges):
    model = nvtx_hooks.patch(nn.Sequential(Block(), Block()), "net")
    model(torch.ones(2, 4)).sum().backward()
    assert (
        ranges()
        == (
            "+net +net.0 +net.0.a -net.0.a +net.0.b -net.0.b -net.0 "
            "+net.1 +net.1.a -net.1.a +net.1.b -net.1.b -net.1 -net "
            "+net' +net.1' +net.1.b' -net.1.b' +net.1.a' -net.1.a' -net.1' "
            "+net.0' +net.0.b' -net.0.b' +net.0.a' -net.0.a' -net.0' -net'"
        ).split()
    )


def test_a_range_has_a_domain_a_category_a_color_and_a_registered_name(recorder):
    model = nvtx_hooks.patch(nn.Sequential(nn.Linear(4, 4)), domain="trainer")
    model(torch.ones(2, 4)).sum().backward()
    pushes = [event for event in recorder.events() if event.kind == "push"]
    assert [(e.domain, e.category, e.color, e.message) for e in pushes] == [
        ("trainer", "forward", 0xFF0072B2, "Sequential"),
        ("trainer", "forward", 0xFF0072B2, "0: Linear"),
        ("trainer", "backward", 0xFFE69F00, "Sequential"),
        ("trainer", "backward", 0xFFE69F00, "0: Linear"),
    ]
