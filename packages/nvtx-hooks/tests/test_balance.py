# SPDX-License-Identifier: Apache-2.0
"""Whatever happens, every range that is opened is closed, in the thread that opened it."""

import os
import threading
from collections import defaultdict

import nvtx
import nvtx_hooks
import pytest
import torch
from blocks import Apply, Block
from recording import sequence
from torch import nn

GOOD = "+net +net.0 -net.0 +net.1 +net.1.0 -net.1.0 -net.1 -net".split()


class Failing(nn.Module):
    """Raises on its first calls."""

    def __init__(self, *errors):
        super().__init__()
        self.errors = list(errors)

    def forward(self, x):
        if self.errors:
            raise self.errors.pop(0)
        return x * 2


def _net(*errors):
    return nvtx_hooks.patch(nn.Sequential(nn.Identity(), nn.Sequential(Failing(*errors))), "net")


@pytest.mark.parametrize("grad", [True, False])
def test_an_exception_closes_all_and_the_next_call_is_whole(grad, ranges):
    net = _net(ValueError("first"), AssertionError())
    with torch.set_grad_enabled(grad):
        with pytest.raises(ValueError, match="first"):
            net(torch.ones(1))
        assert ranges() == GOOD
        with pytest.raises(AssertionError):
            net(torch.ones(1))
        assert ranges() == GOOD
        net(torch.ones(1))
        assert ranges() == GOOD


def test_an_exception_caught_inside_a_module_leaves_its_range_open_until_its_end(ranges):
    def forward(self, x):
        try:
            return self.first(x)
        except ValueError:
            return self.second(x)

    model = Apply(forward, first=Failing(ValueError()), second=nn.Identity())
    nvtx_hooks.patch(model, "net")(torch.ones(1))
    assert ranges() == "+net +net.first -net.first +net.second -net.second -net".split()


def test_the_call_after_an_interrupted_one_begins_at_the_top(ranges, recorder):
    net = _net(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        net(torch.ones(1))
    recorder.clear()
    net(torch.ones(1))
    kinds = [event.kind for event in recorder.events()]
    assert kinds[:3] == ["pop", "pop", "pop"]
    pushes = [event.message.split(":")[0] for event in recorder.events()[3:]]
    assert [name for name in pushes if name] == ["net", "net.0", "net.1", "net.1.0"]
    recorder.clear()


def test_a_thread_that_comes_after_one_that_was_interrupted_begins_anew(recorder):
    net = _net(KeyboardInterrupt())

    def interrupted():
        with pytest.raises(KeyboardInterrupt):
            net(torch.ones(1))
        for _ in range(3):  # behind our back, so that the thread leaves nothing open in a trace
            nvtx.get_domain("torch.nn").pop_range()
        recorder.clear()

    for run in (interrupted, lambda: net(torch.ones(1))):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert sequence(recorder.events()) == GOOD


def test_a_root_called_within_itself_is_no_interrupted_call(ranges):
    def forward(self, x, depth=2):
        return self.inner(x) if not depth else self(x, depth - 1)

    model = nvtx_hooks.patch(Apply(forward, inner=nn.Identity()), "net")
    model(torch.ones(1))
    assert ranges() == "+net +net +net +net.inner -net.inner -net -net -net".split()


@pytest.mark.parametrize("where", ["a", "b"])
def test_a_backward_pass_that_raises_leaves_nothing_open_at_once(where, ranges):
    net = nvtx_hooks.patch(nn.Sequential(Block(), Block()), "net")
    output = net(torch.ones(1, 4))
    ranges()

    def fail(*_):
        raise ValueError("in backward")

    getattr(net[0], where).weight.register_hook(fail)
    with pytest.raises(ValueError, match="in backward"):
        output.sum().backward()
    lines = ranges()
    assert lines[:3] == "+net' +net.1' +net.1.b'".split()
    assert lines[-2:] == "-net.0' -net'".split()


def test_a_backward_pass_that_raises_in_a_thread_leaves_nothing_open_there(recorder):
    net = nvtx_hooks.patch(nn.Sequential(Block(), Block()), "net")
    net[0].b.weight.register_hook(lambda _: 1 / 0)
    seen = []

    def run():
        output = net(torch.ones(1, 4))
        with pytest.raises(ZeroDivisionError):
            output.sum().backward()
        seen.extend(sequence(recorder.events()))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen[-3:] == "-net.0.b' -net.0' -net'".split()


def test_threads_that_share_a_model_have_ranges_of_their_own(recorder):
    net = nvtx_hooks.patch(nn.Sequential(Block(), Block()), "net")
    start = threading.Barrier(8)

    def run():
        start.wait()
        for _ in range(25):
            net(torch.ones(1, 4)).sum().backward()

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    by_thread = defaultdict(list)
    for event in recorder.events():
        by_thread[event.thread].append(event)
    assert len(by_thread) == 8
    one = (
        "+net +net.0 +net.0.a -net.0.a +net.0.b -net.0.b -net.0 "
        "+net.1 +net.1.a -net.1.a +net.1.b -net.1.b -net.1 -net "
        "+net' +net.1' +net.1.b' -net.1.b' +net.1.a' -net.1.a' -net.1' "
        "+net.0' +net.0.b' -net.0.b' +net.0.a' -net.0.a' -net.0' -net'"
    ).split()
    for events in by_thread.values():
        assert sequence(events) == one * 25


def test_forward_in_one_thread_and_backward_in_another_each_balance(recorder):
    net = nvtx_hooks.patch(nn.Sequential(Block()), "net")
    output = net(torch.ones(1, 4))
    thread = threading.Thread(target=output.sum().backward)
    thread.start()
    thread.join()
    events = recorder.events()
    first = events[0].thread
    assert len(sequence([event for event in events if event.thread == first])) == 8
    assert sequence([event for event in events if event.thread != first]) == (
        "+net' +net.0' +net.0.b' -net.0.b' +net.0.a' -net.0.a' -net.0' -net'".split()
    )


def test_switching_off_and_on_within_a_call_keeps_balance(ranges):
    def forward(self, x):
        x = self.a(x)
        nvtx_hooks.disable()
        x = self.b(x)
        nvtx_hooks.enable()
        return self.c(x)

    layers = {name: nn.Linear(1, 1) for name in "abc"}
    net = nvtx_hooks.patch(Apply(forward, **layers), "net")
    output = net(torch.ones(1))
    assert ranges() == "+net +net.a -net.a +net.c -net.c -net".split()
    nvtx_hooks.disable()
    output.sum().backward()
    net.b(torch.ones(1))
    nvtx_hooks.enable()
    assert ranges() == []


def test_unpatching_within_a_call_closes_what_is_open(ranges):
    net = nvtx_hooks.patch(Apply(lambda self, x: nvtx_hooks.unpatch(self).a(x), a=nn.Identity()))
    net(torch.ones(1))
    assert ranges() == "+Apply -Apply".split()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_forked_within_a_call_does_not_close_its_parents_ranges(recorder, ranges):
    reader, writer = os.pipe()

    def forward(self, x):
        self.child = os.fork()
        return x

    net = nvtx_hooks.patch(Apply(forward))
    net(torch.ones(1))
    if not net.child:
        os.write(writer, bytes([len(recorder.events())]))
        os._exit(0)
    os.waitpid(net.child, 0)
    assert os.read(reader, 1) == b"\x01"  # the push that the fork copied; no pop
    assert ranges() == "+Apply -Apply".split()
    os.close(reader)
    os.close(writer)
