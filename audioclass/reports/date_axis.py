"""Dates along an axis: which of them have room for a name, and how months become bars that can be told apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

MOST_BARS = 144  # twelve years of months
CHARACTER = 6.5  # pixels

# From fine to coarse: how much of an ISO date is written, and on which of the dates.
GRADES: tuple[tuple[int, Callable[[int, date], bool]], ...] = (
    (10, lambda index, day: True),
    (10, lambda index, day: index % 7 == 0),
    (7, lambda index, day: day.day == 1),
    (7, lambda index, day: day.day == 1 and day.month % 3 == 1),
    (4, lambda index, day: day.timetuple().tm_yday == 1),
    (4, lambda index, day: day.timetuple().tm_yday == 1 and day.year % 5 == 0),
    (4, lambda index, day: day.timetuple().tm_yday == 1 and day.year % 20 == 0),
)


@dataclass(frozen=True, eq=False)
class Periods:
    """Months, or years where there are many months, without gaps: `hours` has one row for each of `dates`.

    `written` is how much of an ISO date names a period; `n_earlier` periods before the first are left out.
    """

    dates: tuple[date, ...]
    hours: np.ndarray
    written: int
    n_earlier: int = 0

    @property
    def unit(self) -> str:
        """What one row stands for."""
        return "month" if self.written == 7 else "year"

    @property
    def names(self) -> list[str]:
        """The periods as they are written: `2019-04`, `2019`."""
        return [day.isoformat()[: self.written] for day in self.dates]


def date_ticks(dates: Sequence[date], pitch: float, written: int = 10) -> list[tuple[int, str]]:
    """Places and names of as many dates as have room, `pitch` pixels apart; none says more than `written` characters.

    >>> date_ticks([date(2019, month, 1) for month in (11, 12)] + [date(2020, 1, 1)], 20, written=7)
    [(2, '2020-01')]
    """
    for length, is_tick in GRADES:
        places = [index for index, day in enumerate(dates) if is_tick(index, day)]
        room = np.diff(places).min(initial=len(dates)) * pitch
        if length <= written and (room >= CHARACTER * length + 10 or len(places) < 2):
            break
    return [(index, dates[index].isoformat()[:length]) for index in places]


def periods_of(months: Sequence[str], hours: np.ndarray, most: int = MOST_BARS) -> Periods:
    """The hours of months, written `2019-04` and in any order, over all months from the first to the last.

    Where these are more than `most` they become years, of which the last `most` remain.
    """
    numbers = np.array([12 * int(month[:4]) + int(month[5:7]) - 1 for month in months])
    in_months = np.ptp(numbers) < most
    numbers = numbers if in_months else numbers // 12
    first, last = int(numbers.min()), int(numbers.max())
    sums = np.zeros((last - first + 1, hours.shape[1]))
    np.add.at(sums, numbers - first, hours)
    n_earlier = max(len(sums) - most, 0)
    starts = (divmod(number, 12) if in_months else (number, 0) for number in range(first + n_earlier, last + 1))
    dates = tuple(date(year, month + 1, 1) for year, month in starts)
    return Periods(dates, sums[n_earlier:], written=7 if in_months else 4, n_earlier=n_earlier)
