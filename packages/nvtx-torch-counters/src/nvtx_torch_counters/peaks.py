# SPDX-License-Identifier: Apache-2.0
"""The greatest value of each counter inside a region of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass
from types import TracebackType

from ._series import Series
from .probe import PeakProbe
from .samples import Samples

_Path = tuple[str, ...]
_enclosing: ContextVar[_Path] = ContextVar("nvtx_torch_counters_regions", default=())


@dataclass(frozen=True)
class PeakValue:
    """A counter's peak in a region.

    Attributes
    ----------
    value : int or float
        The greatest value known to have occurred.
    exact : bool
        Whether nothing greater occurred.
    at_most : int or None
        Where not exact: what was not exceeded, None where that is unknown.
    """

    value: int | float
    exact: bool
    at_most: int | None = None


class Peak:
    """A region, used as a context manager once; :attr:`values` has the peaks when it ends.

    CUDA's allocator and the kernel each keep one high-water mark for the whole process. Where
    the region raised it, the region's peak is that mark, exactly. Elsewhere the greatest sample
    is a lower bound, and the mark an upper one. Marks are read and never reset; if others
    reset one inside the region to raise it again by less, the greatest sample shows it at best.

    Made by :meth:`CounterSampler.peak`. Regions nest per thread and per asyncio task.

    Attributes
    ----------
    name, path : str
        The region's name, and after it was entered the names of those around it and its own,
        joined by ``/``.
    values : mapping of str to PeakValue
        By ``group.field``; counters without a single value are absent.
    """

    def __init__(
        self,
        name: str,
        survey: Callable[[], list[Series]],
        see: Callable[[Series, int], Samples],
    ) -> None:
        self.name = self.path = name
        self.values: Mapping[str, PeakValue] = {}
        self._survey = survey
        self._see = see
        self._marks: dict[str, Mapping[str, int]] = {}
        self._first_rows: dict[str, int] = {}
        self._token: Token[_Path] | None = None

    def __enter__(self) -> Peak:
        # The survey's own rows are the region's first, so that a value which already stands
        # at the begin counts.
        for series in self._survey():
            self._marks[series.name] = marks_of(series)
            self._first_rows[series.name] = max(0, series.written - 1)
        around = _enclosing.get()
        self.path = "/".join((*around, self.name))
        self._token = _enclosing.set((*around, self.name))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is not None:
            _enclosing.reset(self._token)
        self.values = dict(peak for series in self._survey() for peak in self._peaks_of(series))

    def _peaks_of(self, series: Series) -> Iterator[tuple[str, PeakValue]]:
        # A probe that joined inside the region found its device unused before: a mark of 0.
        before = self._marks.get(series.name)
        after = marks_of(series)
        seen = self._see(series, self._first_rows.get(series.name, 0))
        for field, values in seen.values.items():
            known = values[seen.valid[field]]
            if not len(known):
                continue
            sampled = known.max().item()
            mark = after.get(field)
            yield (
                f"{series.name}.{field}",
                _judged(sampled, 0 if before is None else before.get(field), mark),
            )


def _judged(sampled: float, before: int | None, after: int | None) -> PeakValue:
    """Decide what the marks before and after say about the greatest sample."""
    if before is None or after is None:
        return PeakValue(sampled, exact=False)
    if after > before and after >= sampled:
        return PeakValue(after, exact=True)
    if after < before:  # somebody reset the mark inside the region
        return PeakValue(max(sampled, after), exact=False)
    return PeakValue(sampled, exact=sampled == after, at_most=max(after, int(sampled)))


def marks_of(series: Series) -> Mapping[str, int]:
    """Return the high-water marks of a series' probe, none where it keeps none."""
    if series.stopped is not None or not isinstance(series.probe, PeakProbe):
        return {}
    with series.busy:
        try:
            return series.probe.read_peaks()
        except Exception:  # noqa: BLE001 - without marks the samples still give a bound
            return {}
