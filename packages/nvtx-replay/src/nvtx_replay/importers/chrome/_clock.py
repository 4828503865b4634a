# SPDX-License-Identifier: Apache-2.0
"""Decimal timestamps as exact integer nanoseconds."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Literal, get_args

from nvtx_replay.errors import ConfigError
from nvtx_replay.importers.chrome._json_events import Number

Unit = Literal["ns", "us", "ms", "s"]

_DECIMALS: dict[str, int] = {"ns": 0, "us": 3, "ms": 6, "s": 9}
# No int64 of nanoseconds has more digits than this on either side of the point.
_MAX_EXPONENT = 40


class TimeValueError(ValueError):
    """A time that is missing, no number or not finite."""


def parse_unit(value: str) -> Unit:
    """Return ``value`` if it names a unit of time."""
    for known in get_args(Unit):
        if value == known:
            return known  # type: ignore[no-any-return]
    raise ConfigError(f"unit is {value!r}; expected 'ns', 'us', 'ms' or 's'")


class TextTimeError(TimeValueError):
    """A time that is a text, where texts are not to be read as numbers."""


class Clock:
    """Convert the numbers of ``ts`` and ``dur`` to nanoseconds, without any binary fraction.

    Parameters
    ----------
    unit : {"us", "ns", "ms", "s"}
        What the numbers count. The format says microseconds, whatever ``displayTimeUnit`` says.
    accepts_text : callable, optional
        Asked whether to read a number that was written as a JSON string.
    """

    def __init__(
        self, unit: Unit = "us", accepts_text: Callable[[str], bool] = lambda _: True
    ) -> None:
        self._accepts_text = accepts_text
        self._decimals = _DECIMALS[unit]
        # Where the point stands in a number with all its decimals, as most are written.
        self._point = -1 - self._decimals if self._decimals else None
        self._scale: int = 10**self._decimals

    def exact(self, value: Any) -> int | Fraction:
        """Return nanoseconds, as a fraction where the decimal is finer than that.

        Raises
        ------
        TimeValueError
            If ``value`` is no finite number.
        """
        if type(value) is int:
            return value * self._scale
        if type(value) is Number:
            whole, _, decimals = value.partition(".")
            if len(decimals) <= self._decimals:
                try:
                    return int(whole + decimals.ljust(self._decimals, "0"))
                except ValueError:  # an exponent
                    pass
            return self._fraction(value)
        return self._unusual(value)

    def span(self, begin: Any, duration: Any) -> tuple[int, int] | None:
        """Return begin and end in whole nanoseconds, or None where `exact` has to look closer."""
        if type(begin) is Number and type(duration) is Number and (point := self._point):
            after = point + 1
            if begin[point:after] == "." and duration[point:after] == ".":
                try:
                    start = int(begin[:point] + begin[after:])
                    return start, start + int(duration[:point] + duration[after:])
                except ValueError:  # an exponent
                    return None
        return None

    def round(self, value: int | Fraction) -> int:
        """Return whole nanoseconds, half to even."""
        return value if type(value) is int else round(value)

    def nanoseconds(self, value: Any) -> int:
        """Return whole nanoseconds, half to even."""
        return self.round(self.exact(value))

    def _unusual(self, value: Any) -> int | Fraction:
        if isinstance(value, str):
            exact = self._fraction(value.strip())
            if not self._accepts_text(value):
                raise TextTimeError(value)
            return exact
        found = "missing" if value is None else f"a {type(value).__name__}"
        if isinstance(value, float):
            found = str(value)
        raise TimeValueError(f"{found}, expected a number")

    def _fraction(self, text: str) -> int | Fraction:
        try:
            number = Decimal(text)
        except InvalidOperation:
            raise TimeValueError(f"{text[:40]!r}, expected a number") from None
        if not number.is_finite():
            raise TimeValueError(f"{text[:40]!r}, expected a finite number")
        exponent = number.adjusted()
        if exponent > _MAX_EXPONENT:
            raise TimeValueError(f"{text[:40]}, which no 64-bit number of nanoseconds can hold")
        if exponent < -_MAX_EXPONENT:
            return 0
        exact = Fraction(number) * self._scale
        return exact.numerator if exact.denominator == 1 else exact
