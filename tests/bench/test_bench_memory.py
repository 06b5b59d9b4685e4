"""Device memory through the C ABI: the library and the sketch in turn, one program per row."""

from functools import partial

import pytest
from report import Row

MISSES = "each line of memory that is not in the cache takes about 50 ns, and the library reads two lines more a block"
# Instructions are those that callgrind counts.
CHECKS = "the checks of arguments and of what still uses a block: {} instructions a pair, the sketch has {}".format
COPY = "the checks of arguments and both addresses: 171 instructions a copy, the sketch has 98"
WHOLE = "it is one call of memcpy: the times of two in turn differ by a fifth, and so do the sketch's"
growth = partial(Row, unit="x", rounds=21, times=1.2, limit=MISSES)
ROWS = (
    Row("malloc_free", "malloc + free 4 KiB, 100,000 alive", times=2, limit=CHECKS(399, 203)),
    Row("malloc_free_large", "malloc + free 64 MiB, 100,000 alive", times=2, limit=CHECKS(376, 178)),
    Row("replace", "free + malloc of any of 100,000 blocks"),
    Row("enqueue_scattered", "4-byte set to any of 100,000 blocks"),
    growth("growth_blocks", "free + malloc of any: growth from 10 to 100,000"),
    growth("growth_lookup", "4-byte set to any: growth from 10 to 100,000"),
    Row("copy_4", "4-byte copy into a block of 64 MiB", times=1.4, limit=COPY),
    Row("copy_large", "64 MiB copy to the device, speed", unit="of memcpy", rounds=21, least=0.97, limit=WHOLE),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_memory(row, measure_program):
    measure_program("memory", row)
