# SPDX-License-Identifier: Apache-2.0
"""What the repository holds: its packages, and the Python interpreters at hand."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
BUILD = ROOT / "build"
REPORTS = BUILD / "reports"
DISTRIBUTIONS = BUILD / "dist"
_MINOR_VERSIONS = range(10, 20)
_NOT_SOURCES = {"__pycache__", "build", "dist", "tests", ".hypothesis"}


@dataclass(frozen=True)
class Package:
    """One folder under packages/, as its pyproject.toml describes it."""

    path: Path
    name: str
    dependencies: tuple[str, ...]
    test_dependencies: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> Package:
        """Read the metadata of the package in a folder."""
        project = tomllib.loads((path / "pyproject.toml").read_text())["project"]
        extras = project.get("optional-dependencies", {})
        return cls(
            path=path,
            name=project["name"],
            dependencies=tuple(project.get("dependencies", ())),
            test_dependencies=tuple(extras.get("test", ())),
        )

    @property
    def import_name(self) -> str:
        """The name that Python knows the package by."""
        return self.name.replace("-", "_")

    def own(self) -> list[Package]:
        """This package and those of ours that it or its tests need, dependencies first."""
        known = {package.name: package for package in packages()}
        found: dict[str, Package] = {}

        def visit(package: Package) -> None:
            for name in map(_name, package.dependencies + package.test_dependencies):
                if name in known and name not in found and name != self.name:
                    visit(known[name])
            found.setdefault(package.name, package)

        visit(self)
        return list(found.values())

    def needs(self, name: str) -> bool:
        """Tell whether this package or its tests need another, ours or not, at first hand."""
        return name in map(_name, self.dependencies + self.test_dependencies)

    def all_but(self, left_out: set[str]) -> list[str]:
        """What it and its tests ask for, without the named packages."""
        asked = self.dependencies + self.test_dependencies
        return [requirement for requirement in asked if _name(requirement) not in left_out]

    def fingerprint(self) -> str:
        """A digest of everything that goes into the wheel."""
        digest = hashlib.sha256()
        for file in sorted(self.path.rglob("*")):
            inside = file.relative_to(self.path)
            if file.is_file() and not _NOT_SOURCES.intersection(inside.parts):
                digest.update(f"{inside}\0".encode())
                digest.update(file.read_bytes())
        return digest.hexdigest()


@cache
def packages() -> tuple[Package, ...]:
    """All packages by name."""
    files = sorted((ROOT / "packages").glob("*/pyproject.toml"))
    return tuple(Package.read(file.parent) for file in files)


@cache
def interpreters() -> dict[str, Path]:
    """Every Python from 3.10 that starts, by version; pyenv's are found though not activated."""
    found: dict[str, Path] = {}
    for minor in _MINOR_VERSIONS:
        version = f"3.{minor}"
        named = shutil.which(f"python{version}")
        candidates = [Path(named)] if named else []
        candidates += sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
        started = next((path for path in candidates if _starts(path)), None)
        if started is not None:
            found[version] = started
    return found


def torch_python() -> str:
    """The version that packages on torch are tested on: one is enough for torch's weight."""
    return "3.11" if "3.11" in interpreters() else f"3.{sys.version_info.minor}"


def _starts(python: Path) -> bool:
    """Tell whether an interpreter runs: a pyenv shim may stand for a version not selected."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def _name(requirement: str) -> str:
    match: Any = re.match(r"[A-Za-z0-9._-]+", requirement)
    return re.sub(r"[-_.]+", "-", match.group()).lower()
