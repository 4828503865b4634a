# SPDX-License-Identifier: Apache-2.0
"""The repository's own checks find what they are there to find."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
LICENCE = "# SPDX-License-Identifier: Apache-2.0\n"


def run(script: Path, *arguments: object) -> tuple[int, list[str]]:
    """Run a script; give its exit status and the lines that it printed."""
    command = [sys.executable, str(script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "change")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the scripts and one package, released as 0.1.0."""
    shutil.copytree(SCRIPTS, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    git(tmp_path, "init", "-q", "-b", "main")
    commit(
        tmp_path,
        {
            "packages/one/pyproject.toml": '[project]\nname = "one"\n',
            "packages/one/src/one/__init__.py": "first = 1\n",
            "packages/one/CHANGELOG.md": "## [0.1.0] - 2024-01-02\n\n- First release.\n",
        },
    )
    git(tmp_path, "tag", "one-v0.1.0")
    return tmp_path


def test_a_change_without_an_unreleased_section_is_refused(repository: Path) -> None:
    check = repository / "scripts" / "check_changelog.py"
    assert run(check) == (0, [""])
    commit(repository, {"packages/one/src/one/__init__.py": "first = 2\n"})
    fault = "one: changed since 0.1.0, without an unreleased section"
    assert run(check) == (1, [fault])


def test_an_empty_unreleased_section_is_refused_and_a_told_change_passes(repository: Path) -> None:
    check = repository / "scripts" / "check_changelog.py"
    changelog = "packages/one/CHANGELOG.md"
    released = (repository / changelog).read_text()
    changed = {"packages/one/src/one/__init__.py": "first = 2\n"}
    commit(repository, {**changed, changelog: "## [Unreleased]\n\n" + released})
    assert run(check) == (1, ["one: nothing is told under [Unreleased]"])
    commit(repository, {changelog: "## [Unreleased]\n\n- `first` is 2.\n\n" + released})
    assert run(check) == (0, [""])


def test_a_package_changed_since_the_base_needs_a_changed_changelog(repository: Path) -> None:
    check = repository / "scripts" / "check_changelog.py"
    log = "## [Unreleased]\n\n- `first` is 2.\n"
    commit(repository, {"packages/one/CHANGELOG.md": log})
    git(repository, "tag", "base")
    commit(repository, {"packages/one/src/one/__init__.py": "first = 3\n"})
    fault = "one: changed since base, but CHANGELOG.md did not"
    assert run(check, "--base", "base") == (1, [fault])
    commit(repository, {"packages/one/CHANGELOG.md": log + "- `first` is 3.\n"})
    assert run(check, "--base", "base") == (0, [""])


def test_long_files_long_functions_and_missing_licences_are_refused(tmp_path: Path) -> None:
    body = "\n".join(f"    x = {line}" for line in range(50))
    long_function, long_test = tmp_path / "function.py", tmp_path / "test.py"
    long_function.write_text(f'{LICENCE}def f():\n    """Words.\n\n    More."""\n{body}\n')
    long_test.write_text(f"{LICENCE}def test_f():\n{body}\n")
    long_file, bare = tmp_path / "file.py", tmp_path / "bare.h"
    long_file.write_text(LICENCE + "x = 1\n" * 400)
    bare.write_text("int x;\n")
    fine = tmp_path / "fine.py"
    fine.write_text(LICENCE + "x = 1\n" * 399)
    found = run(SCRIPTS / "check_sizes.py", long_function, long_test, long_file, bare, fine)
    assert found == (
        1,
        [
            f"{long_function}:2: f has 51 lines, at most 50",
            f"{long_test}:2: test_f has 51 lines, at most 40",
            f"{long_file}: 401 lines, at most 400: split it",
            f"{bare}:1: the first line lacks 'SPDX-License-Identifier: Apache-2.0'",
        ],
    )


def test_links_to_missing_files_and_headings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# A `heading`, here\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[good](other.md#a-heading-here) [out](https://example.invalid/x)\n\n"
        "[gone](gone.md) ![picture](gone.png)\n\n[heading](other.md#none)\n"
    )
    assert run(SCRIPTS / "check_links.py", page) == (
        1,
        [
            f"{page}:3: gone.md: no such file",
            f"{page}:3: gone.png: no such file",
            f"{page}:5: other.md#none: no such heading",
        ],
    )


def test_reports_are_added_up_and_a_failure_tells(tmp_path: Path) -> None:
    cases = '<testcase name="a"/><testcase name="b"><skipped/></testcase>'
    (tmp_path / "one.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    script = SCRIPTS / "summarize_reports.py"
    counted = "1 passed, 0 failed, 1 skipped"
    assert run(script, tmp_path) == (0, [f"one: {counted}", counted])
    failed = '<testcase name="c" status="fail"><failure/></testcase>'
    (tmp_path / "two.xml").write_text(f"<testsuite>{failed}</testsuite>")
    assert run(script, tmp_path) == (
        1,
        [f"one: {counted}", "two: 0 passed, 1 failed, 0 skipped", "1 passed, 1 failed, 1 skipped"],
    )
