# SPDX-License-Identifier: Apache-2.0
"""Refuse Markdown links inside the repository that lead nowhere.

Usage: check_links.py FILE|FOLDER...; files, folders, pictures and headings (`#anchor`) must
exist. Addresses outside the repository are not visited: the check must not depend on a network.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKDOWN = MarkdownIt("commonmark").enable("table")


def faults(page: Path) -> Iterator[str]:
    """Name the links of a page that lead nowhere."""
    for line, address in _links(page):
        parts = urlsplit(address)
        if parts.scheme:
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page.resolve()
        if not target.exists():
            yield f"{page}:{line}: {address}: no such file"
        elif parts.fragment and parts.fragment not in _anchors(target):
            yield f"{page}:{line}: {address}: no such heading"


def _links(page: Path) -> Iterator[tuple[int, str]]:
    for token in _MARKDOWN.parse(page.read_text()):
        line = token.map[0] + 1 if token.map else 0
        for child in token.children or ():
            address = child.attrGet("href") or child.attrGet("src")
            if address is not None:
                yield line, str(address)


@cache
def _anchors(page: Path) -> frozenset[str]:
    """Anchors of a page's headings, formed as code hosts form them."""
    tokens = _MARKDOWN.parse(page.read_text()) if page.suffix == ".md" else []
    titles = [_text(after) for token, after in pairwise(tokens) if _opens(token)]
    return frozenset(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles)


def _opens(token: Token) -> bool:
    return token.type == "heading_open"


def _text(inline: Token) -> str:
    return "".join(child.content for child in inline.children or ())


def main() -> int:
    """Check the pages named on the command line; 1 if any link is broken."""
    named = [Path(name) for name in sys.argv[1:]]
    pages = [page for path in named for page in (path.rglob("*.md") if path.is_dir() else [path])]
    found = [fault for page in pages for fault in faults(page)]
    print("\n".join(found) or f"{len(pages)} pages, no broken link")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
