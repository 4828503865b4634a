# SPDX-License-Identifier: Apache-2.0
"""A tag releases a package only if the package says the same."""

from __future__ import annotations

import datetime as dt
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
FOLDER = Path("packages/small-one")
UNRELEASED = "# Changelog\n\n## [Unreleased]\n\n- Something.\n"


def release(root: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, str(root / "scripts" / "release.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The scripts and one package, never released."""
    shutil.copytree(SCRIPTS, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    source = tmp_path / FOLDER / "src" / "small_one"
    source.mkdir(parents=True)
    (tmp_path / FOLDER / "pyproject.toml").write_text('[project]\nname = "small-one"\n')
    (tmp_path / FOLDER / "CHANGELOG.md").write_text(UNRELEASED)
    (source / "_version.py").write_text('"""The version."""\n\n__version__ = "0.1.0"\n')
    return tmp_path


def test_a_prepared_release_passes_with_its_own_tag_only(root: Path) -> None:
    days = [dt.datetime.now(dt.timezone.utc).date()]
    assert release(root, "prepare", "small-one", "0.2.0") == (0, "")
    days.append(dt.datetime.now(dt.timezone.utc).date())  # midnight may have come
    source = (root / FOLDER / "src" / "small_one" / "_version.py").read_text()
    assert source == '"""The version."""\n\n__version__ = "0.2.0"\n'
    dated = [UNRELEASED.replace("[Unreleased]", f"[0.2.0] - {day}") for day in days]
    assert (root / FOLDER / "CHANGELOG.md").read_text() in dated
    assert release(root, "check", "small-one-v0.2.0") == (0, "small-one")
    refusal = "release refused: the tag says 0.2.1, _version.py says 0.2.0"
    assert release(root, "check", "small-one-v0.2.1") == (1, refusal)


def test_an_undated_changelog_is_refused(root: Path) -> None:
    refusal = (
        "CHANGELOG.md begins with '## [Unreleased]', expected '## [0.1.0] - YYYY-MM-DD'; "
        "run `release.py prepare small-one 0.1.0` and commit"
    )
    assert release(root, "check", "small-one-v0.1.0") == (1, f"release refused: {refusal}")


@pytest.mark.parametrize(
    ("tag", "why"),
    [
        ("v0.1.0", "'v0.1.0' is not of the form <package>-vX.Y.Z"),
        ("small-one-v0.1", "'small-one-v0.1' is not of the form <package>-vX.Y.Z"),
        ("other-v0.1.0", "there is no package 'other', only small-one"),
    ],
)
def test_a_tag_of_no_package_is_refused(root: Path, tag: str, why: str) -> None:
    assert release(root, "check", tag) == (1, f"release refused: {why}")


def test_a_release_without_changes_is_not_prepared(root: Path) -> None:
    (root / FOLDER / "CHANGELOG.md").write_text("## [0.1.0] - 2024-01-02\n\n- First.\n")
    refusal = "CHANGELOG.md has no unreleased section; '## [0.1.0] - 2024-01-02' is newest"
    assert release(root, "prepare", "small-one", "0.2.0") == (1, f"release refused: {refusal}")
