"""Operators on one thread beside PyTorch on one thread, where it is installed, each in a process of its own."""

import importlib.util

import pytest
from report import Row

pytestmark = pytest.mark.needs_sim
TIMED = {"unit": "ms", "rounds": 21}
MEMORY = (
    "the operands do not fit into the cache, and device memory is shared memory, which most systems map in pages of"
    " 4 KiB; NumPy adds 4 M float32 on such memory in {sum}"
)
MATRIX = (
    "device memory is shared memory in pages of 4 KiB, and PyTorch's matrix is an array of NumPy, which uses huge"
    " pages; with its matrix in shared memory, too, PyTorch takes {vector}"
)
NORMAL = (
    "exact to 4 units in the last place for every x; PyTorch adds 1 to erf(x / sqrt(2)), so that its results for"
    " negative x lose their digits: at -5 a fifth of the value"
)
PACKED = (
    "on a Xeon, a fifth (1024) to a fourth (256) of the time goes into packing the factors and moving the results, and"
    " the rest takes as long as PyTorch's whole product; on an EPYC (Zen 5), the library takes 0.65 to 0.8 of PyTorch's"
    " time"
)
SUM = Row("sum", "4 M float32 on shared memory: sum by NumPy", **TIMED)
VECTOR = Row("vector", "vector times 4096 x 4096, float32, matrix in shared memory: PyTorch", **TIMED)
WIDE = (
    Row("add", "4 M float32: add", times=1.2, limit=MEMORY, **TIMED),
    Row("exp", "4 M float32: exp", times=1.2, limit=MEMORY, **TIMED),
    Row("sigmoid", "4 M float32: sigmoid", times=1.2, limit=MEMORY, **TIMED),
    Row("silu", "4 M float32: SiLU", times=1.2, limit=MEMORY, **TIMED),
    Row("gelu", "4 M float32: GELU", times=1.2, limit=NORMAL, **TIMED),
    Row("tanh", "4 M float32: tanh", times=1.2, limit=MEMORY, **TIMED),
    Row("cast", "4 M float32: cast to float16", times=1.2, limit=MEMORY, **TIMED),
    Row("softmax", "4 M float32: softmax of rows of 1,024", times=1.2, **TIMED),
    Row("matmul_256", "float32 256 x 256 times 256 x 256", times=1.1, limit=PACKED, **TIMED),
    Row("matmul_1024", "float32 1024 x 1024 times 1024 x 1024", times=1.1, limit=PACKED, **TIMED),
    Row("vector_float32", "vector times 4096 x 4096, float32", times=1.2, limit=MATRIX, **TIMED),
    Row("vector_float16", "vector times 4096 x 4096, float16", times=1.2, **TIMED),
    Row("vector_int8", "float16 vector times 4096 x 4096, int8 weights", times=1.2, **TIMED),
    Row("convolution", "convolution 3 x 3, 64 channels, 56 x 56", times=3, **TIMED),
)
HALVES = (
    Row("matmul_float16", "float16 1024 x 1024 times 1024 x 1024", times=2, **TIMED),
    Row("matmul_bfloat16", "bfloat16 1024 x 1024 times 1024 x 1024", times=2, **TIMED),
)


with_torch = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="PyTorch is not installed")


@with_torch
@pytest.mark.parametrize("row, peer", ((SUM, "add"), (VECTOR, "vector_float32")), ids=("sum", "vector"))
def test_memory(row, peer, measure_peer):
    measure_peer(row, "memory", ("torch", peer), "PyTorch")


@with_torch
@pytest.mark.parametrize("row", WIDE, ids=lambda row: row.name)
def test_beside_torch(row, measure_peer):
    measure_peer(row, "acl", ("torch", row.name), "PyTorch")


@pytest.mark.parametrize("row", HALVES, ids=lambda row: row.name)
def test_halves(row, measure_peer):
    pytest.importorskip("ml_dtypes")
    measure_peer(row, "acl", ("acl", "matmul_1024"), "float32")
