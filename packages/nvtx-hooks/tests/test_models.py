# SPDX-License-Identifier: Apache-2.0
"""Models as people train them: every module that is called has its ranges, in every step."""

from collections import Counter

import nvtx_hooks
import pytest
import torch
from comparison import assert_unchanged
from torch import nn
from torch.utils.checkpoint import checkpoint

transformers = pytest.importorskip("transformers")

# Transformers renames its switch for checkpointing between versions that both are in use.
pytestmark = pytest.mark.filterwarnings("ignore:.gradient_checkpointing_enable:FutureWarning")

STEPS = 5
SMALL = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "vocab_size": 50,
    "max_position_embeddings": 32,
}


def _llama():
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SMALL, num_key_value_heads=1))


def _mixtral():
    config = transformers.MixtralConfig(**SMALL, num_key_value_heads=1, num_local_experts=2)
    return transformers.MixtralForCausalLM(config)


def _bert():
    return transformers.BertForMaskedLM(transformers.BertConfig(**SMALL))


class Residual(nn.Module):
    """The basic block of a ResNet, with operations in place."""

    def __init__(self, inside, outside, stride):
        super().__init__()
        self.checkpointing = None
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.down = nn.Conv2d(inside, outside, 1, stride) if stride > 1 else None

    def forward(self, x):
        if self.checkpointing is None:
            return self.run(x)
        return checkpoint(self.run, x, use_reentrant=self.checkpointing)

    def run(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        out += x if self.down is None else self.down(x)
        return self.relu(out)


def _resnet():
    stem = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True))
    blocks = nn.Sequential(Residual(4, 4, 1), Residual(4, 8, 2))
    return nn.Sequential(stem, blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))


def _called(model, *inputs):
    """Count how often each module is called in one bare forward."""
    calls = Counter()
    paths = {module: path or type(module).__name__ for path, module in model.named_modules()}
    handles = [m.register_forward_pre_hook(lambda m, _: calls.update([paths[m]])) for m in paths]
    model(*inputs)
    for handle in handles:
        handle.remove()
    return calls


def _counts(lines, suffix=""):
    names = [line[1:] for line in lines if line[0] == "+"]
    if suffix:
        return Counter(name.removesuffix(suffix) for name in names if name.endswith(suffix))
    return Counter(name for name in names if name[-1] not in "'^")


TOKENS = torch.arange(12).reshape(2, 6)


@pytest.mark.parametrize("checkpointing", [None, True, False], ids=["plain", "reentrant", "not"])
@pytest.mark.parametrize("make", [_llama, _mixtral, _bert])
def test_a_transformer_has_ranges_for_every_module_called(make, checkpointing, ranges):
    torch.manual_seed(0)
    model = make().train()
    if checkpointing is not None:
        model.gradient_checkpointing_enable({"use_reentrant": checkpointing})
    called = _called(model, TOKENS)
    assert_unchanged(model, TOKENS, steps=STEPS, loss=lambda output: output.logits.sum())
    lines = ranges()
    assert _counts(lines) == Counter({name: STEPS * count for name, count in called.items()})
    backward = _counts(lines, "'")
    assert set(backward.values()) == {STEPS}
    # What has no gradient of its own: tables of positions, dropouts and norms aside, all.
    missing = set(called) - set(backward)
    assert all("rotary" in path or "position" in path for path in missing), missing


@pytest.mark.parametrize("checkpointing", [None, True, False], ids=["plain", "reentrant", "not"])
def test_a_resnet_has_ranges_for_every_module_called(checkpointing, ranges):
    torch.manual_seed(0)
    model, x = _resnet(), torch.randn(2, 3, 12, 12)
    for block in model[1]:
        block.checkpointing = checkpointing
    called = _called(model, x)
    assert_unchanged(model, x, steps=STEPS)
    lines = ranges()
    assert _counts(lines) == Counter({name: STEPS * count for name, count in called.items()})
    assert _counts(lines, "'") == _counts(lines)


def test_generation_shows_each_forward(ranges):
    torch.manual_seed(0)
    model = _llama().eval()
    bare = model.generate(TOKENS[:1], max_new_tokens=3, do_sample=False, pad_token_id=0)
    nvtx_hooks.patch(model)
    ours = model.generate(TOKENS[:1], max_new_tokens=3, do_sample=False, pad_token_id=0)
    assert torch.equal(bare, ours)
    assert _counts(ranges())["LlamaForCausalLM"] == 3
