# SPDX-License-Identifier: Apache-2.0
"""Which NVML binding is installed decides about NVML's counters, and about no others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import printed

NONE = "raise ImportError('no such module')"
WARNING = "import warnings; warnings.warn('pynvml is deprecated', FutureWarning)"
OLD = "NVMLError = Exception\ndef nvmlInit(): pass\ndef nvmlDeviceGetHandleByUUID(uuid): pass"

SCRIPT = """
    import json, logging, sys
    logging.basicConfig(level=logging.INFO, stream=sys.stdout)
    from nvtx_torch_counters import CounterSampler, NvmlDevices, ProcessMemory
    sampler = CounterSampler([ProcessMemory(), NvmlDevices({})])
    for _ in range(3):
        sampler.step()
    sampler.stop()
    print(json.dumps([sampler.names, sampler.report().missing]))
"""


@pytest.mark.parametrize(
    ("binding", "told"),
    [
        (NONE, "there is no NVML binding; pip install nvtx-torch-counters[nvml]"),
        (WARNING, "cannot be imported (pynvml is deprecated)"),
        (OLD, "lacks nvmlDeviceGetUUID, nvmlDeviceGetSamples"),
    ],
)
def test_without_the_right_binding_memory_is_sampled_and_the_package_to_install_is_named(
    tmp_path: Path, binding: str, told: str
) -> None:
    (tmp_path / "pynvml.py").write_text(binding)
    output = printed(SCRIPT, tmp_path, PYTHONPATH=str(tmp_path))
    *notices, counters = output.splitlines()
    names, missing = json.loads(counters)
    assert names == ["process memory"]
    assert told in missing["nvml"]
    assert "nvidia-ml-py" in missing["nvml"]
    assert notices == [f"INFO:nvtx_torch_counters:nvml is not sampled: {missing['nvml']}"]


def test_the_package_needs_no_torch_to_be_imported(tmp_path: Path) -> None:
    script = """
    import sys
    from nvtx_torch_counters import CounterSampler
    with CounterSampler() as sampler:
        pass
    print("torch" in sys.modules, sampler.report().missing)
    """
    assert printed(script, tmp_path) == ("False {'cuda': 'CUDA is not in use by this process'}\n")
