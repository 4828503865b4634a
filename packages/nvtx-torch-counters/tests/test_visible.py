# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from nvml_script import GPU, MIG
from nvtx_torch_counters import Unavailable
from nvtx_torch_counters._visible import Board, visible_uuids

ALIKE = [Board(uuid, "H200") for uuid in GPU[:3]]
SPLIT = [Board(GPU[0], "H200", (MIG[0], MIG[1]), mig=True), Board(GPU[1], "H200")]


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        (None, [0, 1, 2]),
        ("0,1,2", [0, 1, 2]),
        ("2,0", [2, 0]),
        (" 1 , 2 ", [1, 2]),
        ("", []),
        ("-1", []),
        ("NoDevFiles", []),
        ("1,-1,0", [1]),
        ("0,7,1", [0]),
        ("0,one,1", [0]),
        ("1,1", []),
        (GPU[2], [2]),
        (f"{GPU[1]},{GPU[0]}", [1, 0]),
        ("GPU-1,GPU-2", [1, 2]),
        ("GPU-10000000-1111", [1]),
        ("gpu-1", []),
        ("GPU-", []),
        ("GPU-9,GPU-1", []),
        ("GPU-1,GPU-9,GPU-0", [1]),
        ("GPU-1,GPU-1", []),
        ("GPU-1,0", [1]),
    ],
)
def test_devices_come_in_the_order_that_cuda_shows(setting: str | None, shown: list[int]) -> None:
    environ = {} if setting is None else {"CUDA_VISIBLE_DEVICES": setting}
    assert visible_uuids(ALIKE, environ) == [GPU[index] for index in shown]


def test_an_ambiguous_prefix_shows_nothing() -> None:
    alike = [Board("GPU-ab1", "H200"), Board("GPU-ab2", "H200")]
    assert visible_uuids(alike, {"CUDA_VISIBLE_DEVICES": "GPU-ab"}) == []
    assert visible_uuids(alike, {"CUDA_VISIBLE_DEVICES": "GPU-ab2"}) == ["GPU-ab2"]


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        (MIG[1], [MIG[1]]),
        (f"{MIG[1]},{MIG[0]}", [MIG[1], MIG[0]]),
        ("MIG-1a", [MIG[1]]),
        ("0", [MIG[0]]),
        ("1", [GPU[1]]),
        (GPU[0], []),
    ],
)
def test_instances_are_devices_and_their_board_is_not(setting: str, shown: list[str]) -> None:
    assert visible_uuids(SPLIT, {"CUDA_VISIBLE_DEVICES": setting}) == shown


def test_an_instance_named_in_the_old_form_is_refused_with_the_new_one() -> None:
    setting = f"MIG-{GPU[0]}/1/0"
    with pytest.raises(Unavailable, match="nvidia-smi -L"):
        visible_uuids(SPLIT, {"CUDA_VISIBLE_DEVICES": setting})


def test_boards_of_several_models_need_an_order_that_can_be_known() -> None:
    mixed = [Board(GPU[0], "T4"), Board(GPU[1], "H200")]
    with pytest.raises(Unavailable, match="CUDA_DEVICE_ORDER=PCI_BUS_ID"):
        visible_uuids(mixed, {"CUDA_VISIBLE_DEVICES": "0"})
    by_bus = {"CUDA_VISIBLE_DEVICES": "1,0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    assert visible_uuids(mixed, by_bus) == [GPU[1], GPU[0]]
    assert visible_uuids(mixed, {"CUDA_VISIBLE_DEVICES": "GPU-1"}) == [GPU[1]]
