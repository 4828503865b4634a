# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import doctest
import json
from importlib.metadata import version
from importlib.resources import files
from types import ModuleType

import nvtx_torch_counters
import pytest
from nvtx_torch_counters import (
    CounterSampler,
    CountersError,
    default_probes,
    errors,
    probe,
    sampler,
)
from nvtx_torch_counters.__main__ import main

PUBLIC = [
    "CgroupMemory", "Column", "CounterSampler", "CountersError", "CudaAllocator", "CudaDevices",
    "FunctionProbe", "IntervalError", "LaneReport", "LateRow", "NvmlDevices", "NvmlProbe",
    "NvmlUtilizationRing", "Peak", "PeakProbe", "PeakValue", "Probe", "ProbeError",
    "ProbeReport", "ProbeSource", "ProcessCpu", "ProcessMemory", "ProcessObjects",
    "Report", "SamplerError", "Samples", "SinkError", "Stamped", "StampedRows", "Table",
    "Unavailable", "__version__", "default_probes", "write_samples",
]  # fmt: skip


def test_the_public_names_are_these() -> None:
    assert nvtx_torch_counters.__all__ == PUBLIC == sorted(PUBLIC)
    assert all(hasattr(nvtx_torch_counters, name) for name in PUBLIC)


def test_the_version_is_that_of_the_installed_package_and_types_are_shipped() -> None:
    assert version("nvtx-torch-counters") == nvtx_torch_counters.__version__
    assert files("nvtx_torch_counters").joinpath("py.typed").is_file()


@pytest.mark.parametrize("module", [nvtx_torch_counters, probe, sampler])
def test_the_examples_in_the_docstrings_run(module: ModuleType) -> None:
    tried = doctest.testmod(module)
    assert tried.attempted > 0
    assert tried.failed == 0


def test_every_error_has_one_root() -> None:
    raised = [e for e in vars(errors).values() if isinstance(e, type)]
    assert all(issubclass(error, CountersError) for error in raised)


def test_a_cpu_machine_samples_the_process_by_default() -> None:
    with CounterSampler(interval=3600) as started:
        pass
    assert {"process memory", "process cpu", "process objects"} <= set(started.names)
    assert (started.samples("process memory").values["rss"] > 1 << 20).all()
    names = [chosen.name for chosen in default_probes()]
    assert names[:3] == ["process memory", "process cpu", "process objects"]
    assert names[-1] == "cuda"


def test_the_command_prints_each_counter_with_units_and_each_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 0
    text = capsys.readouterr().out
    assert "rss [bytes], shared [bytes]" in text
    assert "cgroup memory" in text
    assert main(["--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row for row in shown["counters"]}
    assert rows["process memory"]["every"] == "sampler's tick"
    assert rows["process cpu"]["fields"] == "percent [percent], cores [cores]"
    assert "cuda" in shown["notes"]


def test_a_report_reads_as_a_table_and_as_plain_data() -> None:
    with CounterSampler(interval=3600) as started:
        pass
    report = started.report()
    assert "process memory" in str(report)
    assert "of a core" in str(report)
    data = json.loads(json.dumps(report.to_dict()))
    assert data["probes"][0]["name"] == "process memory"
    assert data["clock_steps"] == 0
