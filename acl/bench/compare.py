"""Comparing results: how many times the first one's time the others take, and whether the samples can tell.

The interval holds 95 % of the ratios of medians of samples that are drawn anew from the measured ones (bootstrap). For
results of one run, whose samples are pairs, it is that of medians of the ratios of pairs, which do not depend on what
disturbed the machine meanwhile.
"""

import math
from typing import NamedTuple

import numpy

from acl.bench.result import Result

DRAWS = 2000
TOLERANCE = 0.03  # ratios that close to 1 count as the same
SEED = 1


class Ratio(NamedTuple):
    """A ratio of times with its 95 % interval, and what it means."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """One word: ``faster``, ``slower``, ``same``, or ``unclear`` if the interval is too wide to tell."""
        if self.low > 1 + TOLERANCE:
            return "slower"
        if self.high < 1 - TOLERANCE:
            return "faster"
        return "same" if self.low >= 1 - TOLERANCE and self.high <= 1 + TOLERANCE else "unclear"


def median(samples: list[float]) -> float:
    """Return the median."""
    return float(numpy.median(samples))


def p99(samples: list[float]) -> float:
    """Return the 99th percentile; for fewer than 100 samples it is close to the greatest."""
    return float(numpy.quantile(samples, 0.99))


def ratio(base: list[float], other: list[float], paired: bool = False) -> Ratio:
    """Return how many times the time of ``base`` the ``other`` takes.

    Parameters
    ----------
    base, other
        Samples in seconds.
    paired
        Samples with the same index were taken one after the other.
    """
    one, two = numpy.asarray(base), numpy.asarray(other)
    generator = numpy.random.default_rng(SEED)  # the same samples always give the same interval
    with numpy.errstate(divide="ignore", invalid="ignore"):
        if paired and len(one) == len(two):
            ratios = two / one
            drawn = numpy.median(ratios[generator.integers(0, len(ratios), (DRAWS, len(ratios)))], axis=1)
            value = float(numpy.median(ratios))
        else:
            medians = [
                numpy.median(each[generator.integers(0, len(each), (DRAWS, len(each)))], axis=1) for each in (one, two)
            ]
            drawn, value = medians[1] / medians[0], float(numpy.median(two) / numpy.median(one))
    if not numpy.isfinite(drawn).all():
        return Ratio(value, 0.0, math.inf)
    low, high = numpy.quantile(drawn, [0.025, 0.975])
    return Ratio(value, float(low), float(high))


def ratios(results: list[Result], name: str) -> list[Ratio]:
    """Return the ratio of a row of each further result to the first one's."""
    base = results[0]
    return [
        ratio(base.samples[name], each.samples[name], base.pairs is not None and base.pairs == each.pairs)
        for each in results[1:]
    ]


def common(results: list[Result]) -> list[str]:
    """Return the names of the rows that all results have, in the order of the first one."""
    return [name for name in results[0].samples if all(name in each.samples for each in results)]
