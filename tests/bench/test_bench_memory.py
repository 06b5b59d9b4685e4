"""Device memory through the C ABI: one program a row."""

import pytest
from report import Row

ROWS = (
    Row("malloc_free", "malloc + free 4 KiB, 100,000 alive", 80),
    Row("enqueue_scattered", "4-byte set to one of 100,000 blocks"),
    Row("copy_4", "4-byte copy into a block of 64 MiB", 60),
    Row("copy_large", "64 MiB copy to the device", 1.05, "of memcpy", rounds=21),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_memory(row, build_twin, measure_program):
    measure_program(build_twin("memory"), row)
