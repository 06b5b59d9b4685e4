"""Products of matrices and vectors: what they compute, at once and by handles, and what they refuse."""

import numpy
import pytest
from helpers.expect import NULL, in_thread, latches, pointer, refused
from helpers.tensors import CODES

import acl
from acl._lib import ffi, lib

blas = acl.blas
N, T, NZ, NZ_T = range(4)
HIGH = 0
TYPES = [("f2", "f2"), ("f2", "f4"), ("i1", "i4"), ("i1", "f4")]


def numbers(kind, *shape):
    """Return small whole numbers, of which products are exact in every type."""
    count = int(numpy.prod(shape))
    return ((numpy.arange(count) * 7) % 5 - 2).reshape(shape).astype(kind)


class Product:
    """Operands of C = alpha op(A) op(B) + beta C in device memory."""

    def __init__(self, npu, factors, result, trans_a=N, trans_b=N, rows=3, columns=5, depth=4):
        self.npu, self.trans = npu, (trans_a, trans_b, N)
        self.sizes, self.kinds = (rows, columns, depth), (factors, factors, result)
        left, right = numbers(factors, rows, depth), numbers(factors, depth, columns)
        start = numbers(result, rows, columns) + numpy.array(1, result)
        self.expected = 2 * (left.astype("f8") @ right.astype("f8")) + 3 * start.astype("f8")
        self.a = npu.put(numpy.ascontiguousarray(left.T if trans_a == T else left))
        self.b = npu.put(numpy.ascontiguousarray(right.T if trans_b == T else right))
        self.c, self.start = npu.put(start), start
        self.alpha, self.beta = npu.put(numpy.array([2], result)), npu.put(numpy.array([3], result))

    def bytes(self):
        """Return the inputs of a handle with their bytes."""
        rows, columns, depth = self.sizes
        factor, result = numpy.dtype(self.kinds[0]).itemsize, numpy.dtype(self.kinds[2]).itemsize
        return [
            (self.a, rows * depth * factor), (self.b, depth * columns * factor), (self.c, rows * columns * result),
            (self.alpha, result), (self.beta, result),
        ]  # fmt: skip

    def codes(self):
        """Return the data types of A, B and C."""
        return [CODES[kind] for kind in self.kinds]

    def check(self):
        """Wait and compare C."""
        assert acl.rt.synchronize_stream(self.npu.stream) == 0, acl.get_recent_err_msg()
        found = numpy.empty_like(self.start)
        assert acl.rt.memcpy(found.ctypes.data, found.nbytes, self.c, found.nbytes, 2) == 0
        numpy.testing.assert_array_equal(found.astype("f8"), self.expected)

    def run_handle(self, handle):
        """Run a handle and destroy it."""
        inputs = [acl.create_data_buffer(*one) for one in self.bytes()]
        assert acl.op.execute_with_handle(handle, inputs, [inputs[2]], self.npu.stream) == 0, acl.get_recent_err_msg()
        for one in inputs:
            acl.destroy_data_buffer(one)
        acl.op.destroy_handle(handle)


@pytest.mark.parametrize("trans_b", [N, T])
@pytest.mark.parametrize("trans_a", [N, T])
@pytest.mark.parametrize(("factors", "result"), TYPES)
def test_gemm_ex(factors, result, trans_a, trans_b, npu):
    product = Product(npu, factors, result, trans_a, trans_b)
    a, b, c = product.codes()
    ret = blas.gemm_ex(
        *product.trans, *product.sizes, product.alpha, product.a, -1, a, product.b, -1, b, product.beta, product.c, -1,
        c, HIGH, npu.stream,
    )  # fmt: skip
    assert ret == 0, acl.get_recent_err_msg()
    product.check()
    product = Product(npu, factors, result, trans_a, trans_b)
    handle, ret = blas.create_handle_for_gemm_ex(*product.trans, *product.sizes, a, b, c, HIGH)
    assert ret == 0, acl.get_recent_err_msg()
    product.run_handle(handle)
    product.check()


@pytest.mark.parametrize("trans_a", [N, T])
@pytest.mark.parametrize(("factors", "result"), TYPES)
def test_gemv_ex(factors, result, trans_a, npu):
    product = Product(npu, factors, result, trans_a, columns=1)
    a, x, y = product.codes()
    rows, _, depth = product.sizes
    ret = blas.gemv_ex(
        trans_a, rows, depth, product.alpha, product.a, -1, a, product.b, -1, x, product.beta, product.c, -1, y, HIGH,
        npu.stream,
    )  # fmt: skip
    assert ret == 0, acl.get_recent_err_msg()
    product.check()
    product = Product(npu, factors, result, trans_a, columns=1)
    handle, ret = blas.create_handle_for_gemv_ex(trans_a, rows, depth, a, x, y, HIGH)
    assert ret == 0, acl.get_recent_err_msg()
    product.run_handle(handle)
    product.check()


@pytest.mark.parametrize(("name", "factors", "result"), [("h", "f2", "f2"), ("s8", "i1", "i4")])
def test_the_short_forms(name, factors, result, npu):
    product = Product(npu, factors, result)
    ret = getattr(blas, f"{name}gemm")(
        *product.trans, *product.sizes, product.alpha, product.a, -1, product.b, -1, product.beta, product.c, -1, HIGH,
        npu.stream,
    )  # fmt: skip
    assert ret == 0, acl.get_recent_err_msg()
    product.check()
    product = Product(npu, factors, result)
    handle, ret = getattr(blas, f"create_handle_for_{name}gemm")(*product.trans, *product.sizes, HIGH)
    assert ret == 0, acl.get_recent_err_msg()
    product.run_handle(handle)
    product.check()
    product = Product(npu, factors, result, columns=1)
    rows, _, depth = product.sizes
    ret = getattr(blas, f"{name}gemv")(
        N, rows, depth, product.alpha, product.a, -1, product.b, -1, product.beta, product.c, -1, HIGH, npu.stream
    )
    assert ret == 0, acl.get_recent_err_msg()
    product.check()
    product = Product(npu, factors, result, columns=1)
    handle, ret = getattr(blas, f"create_handle_for_{name}gemv")(N, rows, depth, HIGH)
    assert ret == 0, acl.get_recent_err_msg()
    product.run_handle(handle)
    product.check()


def test_factors_are_read_when_the_product_runs(npu):
    product = Product(npu, "f2", "f2")
    half = numpy.array([4], "f2")
    with latches(npu.stream) as held:
        held.hold()
        arguments = product.alpha, product.a, -1, product.b, -1, product.beta, product.c, -1, HIGH, npu.stream
        assert blas.hgemm(*product.trans, *product.sizes, *arguments) == 0
        assert acl.rt.memcpy(product.alpha, 2, half.ctypes.data, 2, 1) == 0
        held.release()
    product.expected = 2 * (product.expected - 3 * product.start) + 3 * product.start
    product.check()


def test_the_type_gemm(npu):
    product = Product(npu, "f2", "f4", trans_b=T)
    rows, columns, depth = product.sizes
    shapes = [(rows, depth), (columns, depth), (rows, columns), (1,), (1,)]
    kinds = [*product.codes(), CODES["f4"], CODES["f4"]]
    descs = [acl.create_tensor_desc(kind, list(shape), 2) for kind, shape in zip(kinds, shapes)]
    buffers = [acl.create_data_buffer(*one) for one in product.bytes()]
    attr = acl.op.create_attr()
    assert acl.op.set_attr_bool(attr, "transpose_b", 1) == 0
    ret = acl.op.execute_v2("GEMM", descs, buffers, [descs[2]], [buffers[2]], attr, npu.stream)
    assert ret == 0, acl.get_recent_err_msg()
    product.check()
    acl.op.destroy_attr(attr)
    for desc, buffer in zip(descs, buffers):
        acl.destroy_tensor_desc(desc)
        acl.destroy_data_buffer(buffer)


# ---- refusals ----

GEMM = dict(
    transA=N, transB=N, transC=N, m=3, n=5, k=4, alpha=None, matrixA=None, lda=-1, dataTypeA=1, matrixB=None, ldb=-1,
    dataTypeB=1, beta=None, matrixC=None, ldc=-1, dataTypeC=1, type=HIGH, stream=None,
)  # fmt: skip
GEMV = dict(
    transA=N, m=3, n=4, alpha=None, a=None, lda=-1, dataTypeA=1, x=None, incx=-1, dataTypeX=1, beta=None, y=None,
    incy=-1, dataTypeY=1, type=HIGH, stream=None,
)  # fmt: skip
# Parameters that are addresses, and the operands they stand for.
POINTERS = {
    "alpha": "alpha", "beta": "beta", "matrixA": "a", "matrixB": "b", "matrixC": "c", "a": "a", "x": "b", "y": "c",
}  # fmt: skip


def names_of(function):
    """Return the parameters of a function, from those of the general one."""
    all_names = list(GEMM if "gemm" in function.lower() else GEMV)
    if "Ex" not in function:
        all_names = [name for name in all_names if not name.startswith("dataType")]
    if "CreateHandle" in function:
        dropped = {*POINTERS, "lda", "ldb", "ldc", "incx", "incy", "stream"}
        all_names = [name for name in all_names if name not in dropped] + ["handle"]
    return all_names


FUNCTIONS = {
    f"aclblas{handle}{name}": names_of(f"aclblas{handle}{name}")
    for handle in ("", "CreateHandleFor")
    for name in ("GemmEx", "Hgemm", "S8gemm", "GemvEx", "Hgemv", "S8gemv")
}
# Parameter, value, code, words of the message.
SPOILT = [
    *((name, NULL, 100000, "is NULL") for name in POINTERS),
    *((name, 3, 100000, "expected -1") for name in ("lda", "ldb", "ldc", "incx", "incy")),
    *((name, value, 100000, "expected more than 0") for name in ("m", "n", "k") for value in (0, -1)),
    *((name, NZ, 200001, "ACL_TRANS_NZ") for name in ("transA", "transB", "transC")),
    *((name, NZ_T, 100000, "expected ACL_TRANS_N (0)") for name in ("transA", "transB", "transC")),
    ("transC", T, 100000, "transC is 1, expected ACL_TRANS_N (0)"),
    ("transA", 4, 100000, "transA is 4"),
    ("type", 1, 100000, "expected ACL_COMPUTE_HIGH_PRECISION"),
    *((f"dataType{side}", 27, 100026, "the data types are") for side in "ABCXY"),
    ("handle", NULL, 100000, "handle is NULL"),
]


@pytest.fixture(scope="module")
def operands(npu):
    """Make the arguments of a right call."""
    product = Product(npu, "f2", "f2")
    given = {name: pointer(getattr(product, side)) for name, side in POINTERS.items()}
    return {**GEMV, **GEMM, **given, "stream": pointer(npu.stream), "handle": ffi.new("aclopHandle **")}


@pytest.mark.parametrize(
    ("function", "name", "value", "code", "words"),
    [(function, *row) for function, names in FUNCTIONS.items() for row in SPOILT if row[0] in names],
)
def test_products_are_refused(function, name, value, code, words, operands):
    arguments = [value if each == name else operands[each] for each in FUNCTIONS[function]]
    refused(getattr(lib, function)(*arguments), code, function, words)


def test_memory_and_streams_are_checked(npu):
    product = Product(npu, "f2", "f2")
    host = numpy.ones(1, "f2")

    def run(alpha, stream):
        arguments = alpha, product.a, -1, product.b, -1, product.beta, product.c, -1, HIGH, stream
        return blas.hgemm(*product.trans, *product.sizes, *arguments)

    refused(run(host.ctypes.data, npu.stream), 107000, "aclblasHgemm", "alpha")
    assert in_thread(lambda: run(product.alpha, npu.stream)) == 107002
    if acl.is_simulator:
        refused(run(product.alpha, 5), 107017)


@pytest.mark.strict
def test_products_reach_no_further_than_their_memory(npu):
    product = Product(npu, "f2", "f2")
    arguments = product.alpha, product.a, -1, product.b, -1, product.beta, product.c, -1, HIGH, npu.stream
    refused(blas.hgemm(*product.trans, 4096, 4096, 4096, *arguments), 107000, "aclblasHgemm")
