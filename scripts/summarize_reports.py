# SPDX-License-Identifier: Apache-2.0
"""Add up the JUnit reports of all sessions and close with one line of totals.

Usage: summarize_reports.py FOLDER; exit status 1 if a test failed or none ran.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Totals:
    """How many tests passed, failed and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other: Totals) -> None:
        """Add another report's numbers."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def read(report: Path) -> Totals:
    """Count the cases of one report, as pytest and ctest write them."""
    totals = Totals()
    for case in ET.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            totals.failed += 1
        elif "skipped" in kinds or case.get("status") in ("disabled", "notrun"):
            totals.skipped += 1
        else:
            totals.passed += 1
    return totals


def main() -> int:
    """Print one line a report and the totals."""
    everything = Totals()
    for report in sorted(Path(sys.argv[1]).glob("*.xml")):
        totals = read(report)
        everything.add(totals)
        print(f"{report.stem}: {totals}")
    print(everything)
    return 1 if everything.failed or not everything.passed else 0


if __name__ == "__main__":
    sys.exit(main())
