# SPDX-License-Identifier: Apache-2.0
"""Refuse files and functions that have outgrown one reading, and files without a licence line.

Usage: check_sizes.py FILE...; files that are neither Python nor C or C++ are passed over.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = {".py": 400, ".c": 500, ".cpp": 500, ".h": 500, ".hpp": 500}
FUNCTION_LINES = 50
TEST_LINES = 40
LICENCE = "SPDX-License-Identifier: Apache-2.0"


def faults(path: Path) -> Iterator[str]:
    """Name what is too long in a file."""
    text = path.read_text()
    lines = text.splitlines()
    limit = FILE_LINES[path.suffix]
    if len(lines) > limit:
        yield f"{path}: {len(lines)} lines, at most {limit}: split it"
    if lines and LICENCE not in lines[0]:
        yield f"{path}:1: the first line lacks {LICENCE!r}"
    if path.suffix == ".py":
        yield from _long_functions(path, ast.parse(text))


def _long_functions(path: Path, tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        limit = TEST_LINES if node.name.startswith("test_") else FUNCTION_LINES
        size = (node.end_lineno or 0) - node.lineno + 1 - _docstring_lines(node)
        if size > limit:
            yield f"{path}:{node.lineno}: {node.name} has {size} lines, at most {limit}"


def _docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    if ast.get_docstring(node) is None:
        return 0
    first = node.body[0]
    return (first.end_lineno or 0) - first.lineno + 1


def main() -> int:
    """Check the files named on the command line; 1 if any is at fault."""
    paths = (Path(name) for name in sys.argv[1:])
    found = [fault for path in paths if path.suffix in FILE_LINES for fault in faults(path)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
