# SPDX-License-Identifier: Apache-2.0
"""Refuse a change that users would notice and no changelog tells.

For each package, what changed under src/ or native/ since its last release (its newest
`<package>-v*` tag; without one, everything) must be told under the topmost heading of its
CHANGELOG.md. With --base REF, a package changed since REF must also have a changed changelog.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator

from workspace import ROOT, Package, packages

HEADING = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>.+))?$", re.MULTILINE)
ENTRY = re.compile(r"^\s*- \S", re.MULTILINE)
NOTICED = ("src", "native")


def faults(package: Package, base: str | None) -> Iterator[str]:
    """Name what a package's changelog lacks."""
    path = package.path / "CHANGELOG.md"
    if not path.exists():
        yield f"{package.name}: no CHANGELOG.md"
        return
    headings = list(HEADING.finditer(path.read_text()))
    if not headings:
        yield f"{package.name}: CHANGELOG.md has no heading like '## [Unreleased]'"
        return
    if _changed(package, _last_release(package)):
        yield from _newest_section_faults(package, path.read_text(), headings)
    if base is not None and _changed(package, base) and not _differs(base, path.relative_to(ROOT)):
        yield f"{package.name}: changed since {base}, but CHANGELOG.md did not"


def _newest_section_faults(
    package: Package, text: str, headings: list[re.Match[str]]
) -> Iterator[str]:
    newest = headings[0]
    end = headings[1].start() if len(headings) > 1 else len(text)
    released = re.fullmatch(r"\d{4}-\d\d-\d\d", newest["date"] or "")
    if released and _last_release(package):
        yield f"{package.name}: changed since {newest['version']}, without an unreleased section"
    elif not ENTRY.search(text, newest.end(), end):
        yield f"{package.name}: nothing is told under [{newest['version']}]"


def _last_release(package: Package) -> str | None:
    tags = _git("tag", "--list", f"{package.name}-v*", "--sort=-creatordate").split()
    return tags[0] if tags else None


def _changed(package: Package, since: str | None) -> bool:
    """Tell whether anything that users notice changed; everything is new before a release."""
    inside = package.path.relative_to(ROOT)
    return since is None or any(_differs(since, inside / folder) for folder in NOTICED)


def _differs(since: str, path: object) -> bool:
    return bool(_git("diff", "--name-only", f"{since}...HEAD", "--", str(path)))


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout


def main() -> int:
    """Check all packages; 1 if any is at fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", metavar="REF", help="what the change will be merged into")
    base = parser.parse_args().base
    found = [fault for package in packages() for fault in faults(package, base)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
