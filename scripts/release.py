# SPDX-License-Identifier: Apache-2.0
"""Prepare a package's release, and refuse a tag that does not say what the package says.

`release.py prepare PACKAGE VERSION` writes the version and dates the changelog, to be committed.
`release.py check TAG` (`<package>-vX.Y.Z`) prints the package's name if the tag may be released.
"""

from __future__ import annotations

import argparse
import datetime as dt
import re
import sys
from pathlib import Path

from check_changelog import HEADING
from workspace import Package, packages

TAG = re.compile(r"(?P<name>[a-z-]+)-v(?P<version>\d+\.\d+\.\d+)")
VERSION = re.compile(r'^__version__ = "(?P<version>[^"]+)"$', re.MULTILINE)
DATE = re.compile(r"\d{4}-\d\d-\d\d")


class RefusedError(Exception):
    """Why a release cannot be made."""


def check(tag: str) -> Package:
    """Find the package that a tag releases; its version and changelog must agree with the tag."""
    match = TAG.fullmatch(tag)
    if match is None:
        raise RefusedError(f"{tag!r} is not of the form <package>-vX.Y.Z")
    package, version = find(match["name"]), match["version"]
    written = version_match(package)["version"]
    if written != version:
        raise RefusedError(f"the tag says {version}, {version_file(package).name} says {written}")
    heading = newest_heading(package)
    if heading["version"] != version or not DATE.fullmatch(heading["date"] or ""):
        raise RefusedError(
            f"CHANGELOG.md begins with {heading.group()!r}, "
            f"expected '## [{version}] - YYYY-MM-DD'; "
            f"run `release.py prepare {package.name} {version}` and commit"
        )
    return package


def prepare(name: str, version: str, date: dt.date) -> None:
    """Write a version into a package, and into the changelog's unreleased section."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise RefusedError(f"{version!r} is not of the form X.Y.Z")
    package = find(name)
    heading = newest_heading(package)
    if DATE.fullmatch(heading["date"] or ""):
        raise RefusedError(f"CHANGELOG.md has no unreleased section; {heading.group()!r} is newest")
    replace(package.path / "CHANGELOG.md", heading, f"## [{version}] - {date.isoformat()}")
    replace(version_file(package), version_match(package), f'__version__ = "{version}"')


def find(name: str) -> Package:
    """Find a package by its name."""
    known = {package.name: package for package in packages()}
    if name not in known:
        raise RefusedError(f"there is no package {name!r}, only {', '.join(known)}")
    return known[name]


def version_file(package: Package) -> Path:
    """Give the one file that a package's version stands in."""
    return package.path / "src" / package.import_name / "_version.py"


def version_match(package: Package) -> re.Match[str]:
    """Find the version in its file."""
    return found(VERSION, version_file(package))


def newest_heading(package: Package) -> re.Match[str]:
    """Find the topmost version in a changelog."""
    return found(HEADING, package.path / "CHANGELOG.md")


def found(pattern: re.Pattern[str], path: Path) -> re.Match[str]:
    """Find a pattern in a file that must have it."""
    match = pattern.search(path.read_text())
    if match is None:
        raise RefusedError(f"{path.name} has no line like {pattern.pattern!r}")
    return match


def replace(path: Path, match: re.Match[str], text: str) -> None:
    """Put a text in the place of what was found in a file."""
    path.write_text(match.string[: match.start()] + text + match.string[match.end() :])


def main() -> int:
    """Run the command line: 1 if the release is refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("check").add_argument("tag")
    preparing = actions.add_parser("prepare")
    preparing.add_argument("package")
    preparing.add_argument("version")
    options = parser.parse_args()
    try:
        if options.action == "check":
            print(check(options.tag).name)
        else:
            today = dt.datetime.now(dt.timezone.utc).date()
            prepare(options.package, options.version, today)
    except RefusedError as error:
        print(f"release refused: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
