# SPDX-License-Identifier: Apache-2.0
"""Names of ranges, which modules have them, and what they carry."""

import nvtx_hooks
import pytest
import torch
from blocks import Apply, Block
from torch import nn


def _pushes(recorder, category="forward"):
    return [e for e in recorder.events() if e.kind == "push" and e.category == category]


def _names(recorder):
    return [event.message for event in _pushes(recorder)]


def _net():
    return nn.Sequential(Block(), nn.Sequential(Block()))


def _run(model):
    model(torch.ones(1, 4))
    return model


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["Sequential", "0: Block", "0.a: Linear", "0.b: Linear"]),
        ({"name": "actor"}, ["actor: Sequential", "actor.0: Block", "actor.0.a: Linear"]),
        ({"label": "child"}, ["Sequential", "0: Block", "a: Linear", "b: Linear"]),
        ({"label": "child", "name": "net"}, ["net: Sequential", "0: Block", "a: Linear"]),
        ({"label": lambda path, module: path.upper() and f"<{path}>"}, ["Sequential", "<0>"]),
        ({"label": lambda path, module: None}, ["Sequential", "0: Block", "0.a: Linear"]),
    ],
)
def test_a_label_is_the_path_the_child_or_what_a_function_says(options, expected, recorder):
    _run(nvtx_hooks.patch(_net(), **options))
    assert _names(recorder)[: len(expected)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("層 🚀", "層 🚀"),
        ("a\0b", "a\N{SYMBOL FOR NULL}b"),
        ("\ud800", "?"),
        ("x" * 100_000, "x" * 1023 + "…"),
        ("", "Sequential"),
    ],
)
def test_any_text_makes_a_name_that_tools_can_show(text, expected, recorder):
    _run(nvtx_hooks.patch(nn.Sequential(), label=lambda path, module: text))
    assert _names(recorder) == [expected]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"include": "*.a"}, ["0.a", "1.0.a"]),
        ({"include": ["0.?", Block]}, ["0", "0.a", "0.b", "1.0"]),
        ({"exclude": Block}, ["", "0.a", "0.b", "1", "1.0.a", "1.0.b"]),
        ({"exclude": lambda path, _: path.startswith("0")}, ["", "1", "1.0", "1.0.a", "1.0.b"]),
        ({"include": Block, "exclude": "0"}, ["1.0"]),
        ({"max_depth": 0}, [""]),
        ({"max_depth": 1}, ["", "0", "1"]),
        ({"include": nn.Conv1d}, []),
    ],
)
def test_modules_are_chosen_by_pattern_type_predicate_and_depth(options, expected, recorder):
    model = nvtx_hooks.patch(_net(), label=lambda path, module: f"[{path}]", **options)
    assert nvtx_hooks.is_patched(model) == bool(expected)
    _run(model)
    assert _names(recorder) == [f"[{path}]" for path in expected]


def test_a_parent_that_is_left_out_leaves_its_children_in_order(ranges):
    model = nvtx_hooks.patch(_net(), exclude=Block)
    model(torch.ones(1, 4)).sum().backward()
    assert ranges()[-12:] == (
        "+Sequential' +1' +1.0.b' -1.0.b' +1.0.a' -1.0.a' -1' "
        "+0.b' -0.b' +0.a' -0.a' -Sequential'".split()
    )


def test_a_shared_module_has_its_first_path_and_tells_the_others(recorder):
    shared = nn.Linear(4, 4)
    model = nn.ModuleDict({name: nn.Sequential(shared) for name in "abc"})
    nvtx_hooks.patch(model)
    for part in model.values():
        part(torch.ones(1, 4))
    pushes = [event for event in _pushes(recorder) if event.message.endswith("Linear")]
    assert [(e.message, e.payload) for e in pushes] == [
        ("a.0: Linear", {"aliases": "b.0, c.0"})
    ] * 3


def test_children_of_the_same_name_and_class_do_not_hide_each_other(recorder):
    model = nn.Sequential(nn.Sequential(nn.Sequential(nn.Sequential())))
    _run(nvtx_hooks.patch(model, label="child"))
    assert _names(recorder) == ["Sequential"] + ["0: Sequential"] * 3


def test_a_model_that_holds_itself_is_patched_once(recorder):
    model = Apply(lambda self, x: x)
    model.add_module("me", model)
    _run(nvtx_hooks.patch(model))
    assert [(e.message, e.payload) for e in _pushes(recorder)] == [("Apply", {"aliases": "me"})]


def test_shapes_and_dtypes_of_arguments_travel_as_a_payload(recorder):
    model = Apply(lambda self, x, scale, flag, *, mask: self.a(x) * scale, a=nn.Linear(4, 4))
    nvtx_hooks.patch(model, shapes=True)
    x, mask = torch.ones(2, 3, 4), torch.ones(5, dtype=torch.bool)
    model(x, torch.tensor(2.0, dtype=torch.float64), True, mask=mask)
    assert [(event.message, event.payload) for event in _pushes(recorder)] == [
        (
            "Apply",
            {
                "arg0_shape": [2, 3, 4],
                "arg0_dtype": "float32",
                "arg1_dtype": "float64",
                "mask_shape": [5],
                "mask_dtype": "bool",
            },
        ),
        ("a: Linear", {"arg0_shape": [2, 3, 4], "arg0_dtype": "float32"}),
    ]


def test_a_range_without_tensors_carries_no_shapes(recorder):
    nvtx_hooks.patch(Apply(lambda self, x: x), shapes=True)(3)
    assert [event.payload for event in _pushes(recorder)] == [{}]


def test_names_are_registered_once_however_often_a_model_runs_and_is_patched(recorder):
    model = _net()
    counts = []
    for _ in range(3):
        with nvtx_hooks.patched(model, domain="once", recompute="mark"):
            for _ in range(10):
                model(torch.ones(1, 4)).sum().backward()
        counts.append(recorder.text_count())
    assert len(set(counts)) == 1


def test_nothing_lands_in_the_default_domain(recorder):
    _run(nvtx_hooks.patch(_net(), domain="mine"))
    assert {event.domain for event in recorder.events()} == {"mine"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recompute": "hide"}, "recompute is 'hide'; it must be 'mark' or 'skip'"),
        ({"emitter": "nsys"}, "emitter is 'nsys'; it must be 'nvtx' or 'record_function' or"),
        ({"label": "full"}, "label is 'full'; it must be 'path', 'child' or a function"),
        ({"max_depth": -1}, "max_depth is -1; it must be 0 or more"),
        ({"include": [3]}, r"include holds 3; it takes patterns of module paths"),
        ({"shapes": True, "emitter": "record_function"}, "shapes=True needs emitter='nvtx'"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_installed(options, message):
    model = _net()
    with pytest.raises(nvtx_hooks.OptionError, match=message):
        nvtx_hooks.patch(model, **options)
    assert not nvtx_hooks.is_patched(model)


def test_what_is_no_module_is_refused():
    with pytest.raises(TypeError, match=r"model is a str; it must be a torch\.nn\.Module"):
        nvtx_hooks.patch("model")


def test_a_call_that_a_cuda_graph_captures_says_so(recorder, monkeypatch):
    # A capture needs a GPU; what asks PyTorch about one is replaced.
    monkeypatch.setattr("nvtx_hooks._forward.is_capturing", lambda: True)
    _run(nvtx_hooks.patch(nn.Sequential(nn.Linear(4, 4))))
    assert _names(recorder) == ["Sequential [capture]", "0: Linear"]
