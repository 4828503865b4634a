# SPDX-License-Identifier: Apache-2.0
"""Random trees of ranges, which know their own nesting, and random crossings, which do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from support.lanes import Placed, Range


@dataclass
class RangeTree:
    """A range and what lies inside it, in the order of time."""

    range: Range
    children: list[RangeTree] = field(default_factory=list)

    def placed(self, depth: int = 0, parent: str | None = None) -> Iterator[Placed]:
        """Give every range with its depth and parent, parents first; trees need one lane."""
        yield Placed(self.range, 0, depth, parent)
        for child in self.children:
            yield from child.placed(depth + 1, self.range.name)


def random_tree(random: Random, name: str) -> RangeTree:
    """Grow a tree with many ties: equal begins and ends, copies, empty ranges, instants."""
    end = random.choice([1, 3, 10, 1000])
    tree = RangeTree(Range(name, 0, end, random.randrange(2**40)))
    _grow(random, tree, levels=random.randrange(1, 5))
    return tree


def _grow(random: Random, tree: RangeTree, levels: int) -> None:
    begin, end = tree.range.begin, tree.range.end
    cuts = sorted(random.randint(begin, end) for _ in range(2 * random.randrange(4)))
    if random.random() < 0.2:
        cuts = [begin, end]  # a child as long as its parent
    spans = [(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=True) if a < b]
    spans += [
        (at, at)
        for at in (random.randrange(begin, end) for _ in range(random.randrange(3)))
        if not any(a <= at < b for a, b in spans)  # else it would lie inside that sibling
    ]
    for number, (a, b) in enumerate(sorted(spans)):
        mark = a == b and random.random() < 0.5
        child = RangeTree(Range(f"{tree.range.name}.{number}", a, b, random.randrange(2**40), mark))
        tree.children.append(child)
        if levels and a < b:
            _grow(random, child, levels - 1)


def shuffled(random: Random, ranges: list[Range]) -> list[Range]:
    """Shuffle, but keep ranges with the same begin and end in their order: only that tells
    which of the two is the parent.
    """
    order = random.sample(ranges, len(ranges))
    waiting: dict[tuple[int, int], list[Range]] = {}
    for item in reversed(ranges):
        waiting.setdefault((item.begin, item.end), []).append(item)
    return [waiting[item.begin, item.end].pop() for item in order]


def random_crossings(random: Random, name: str) -> list[Range]:
    """Draw ranges without any regard to nesting, on few distinct times, so that most cross."""
    span = random.choice([4, 12, 60])
    found = []
    for number in range(random.randrange(1, 16)):
        begin, end = sorted((random.randrange(span), random.randrange(span)))
        mark = begin == end and random.random() < 0.5
        found.append(Range(f"{name}.{number}", begin, end, random.randrange(2**40), mark))
    return found
