"""Integers of 4 bits, two per byte, and scales of the cube unit, for tests of quantised operators."""

import numpy

import acl
from helpers.operands import stored
from helpers.tensors import ND, Tensor

INT4, INT32 = 29, 3
EACH = 8  # integers of 4 bits in an int32


def pack(values):
    """Return integers of 4 bits as bytes; the last axis has an even length."""
    halves = numpy.asarray(values).astype("i8") & 15
    return (halves[..., 0::2] | halves[..., 1::2] << 4).astype("u1")


def unpack(packed):
    """Return the integers in bytes."""
    halves = numpy.stack([packed & 15, packed >> 4], -1).astype("i1").reshape(*packed.shape[:-1], 2 * packed.shape[-1])
    return numpy.where(halves > 7, halves - 16, halves)


def int4(npu, values, carrier=False, turned=False):
    """Return a tensor of int4, or of int32 that holds them; ``turned`` ones are packed along the axis before the last.

    The array of the tensor is that of the bytes.
    """
    whole = numpy.ascontiguousarray(numpy.swapaxes(values, -1, -2) if turned else values)
    base, shape = pack(whole), list(whole.shape)
    if carrier:
        shape[-1] //= EACH
    storage = list(shape)
    strides = [int(numpy.prod(shape[place + 1 :], dtype="i8")) for place in range(len(shape))]
    if turned:
        shape[-2:], strides[-2:] = shape[:-3:-1], strides[:-3:-1]
    address = npu.put(base)
    handle = acl.create_tensor(shape, INT32 if carrier else INT4, strides, 0, ND, storage, address)
    assert handle != 0
    npu.ends.append((acl.destroy_tensor, handle))
    return Tensor(handle, address, base, base, "u1")


def any_integers(case, shape, form):
    """Return a matrix of small integers and their values; ``form`` is a type or how integers of 4 bits are packed."""
    if form == "i1":
        return case.take(shape, "i1")
    values = case.generator.integers(-8, 8, shape)
    return int4(case.npu, values, "carrier" in form, "turned" in form), values.astype("f8")


def cube_scale(scale, offset=None):
    """Return scales, and offsets, as the cube unit takes them."""
    bits = (numpy.asarray(scale, "f4").view("u4").astype("u8") & numpy.uint64(0xFFFFE000)) | numpy.uint64(1 << 46)
    if offset is None:
        return bits
    whole = numpy.clip(numpy.rint(offset), -256, 255).astype("i8").astype("u8") & numpy.uint64(0x1FF)
    return (bits & numpy.uint64(0x4000FFFFFFFF)) | whole << numpy.uint64(37)


def scale_of(packed):
    """Return the floats in scales of the cube unit."""
    return (numpy.asarray(packed, "u8") & numpy.uint64(0xFFFFE000)).astype("u4").view("f4").astype("f8")


def small(generator, shape, kind):
    """Return random scales, which keep products in the range of float16."""
    return stored(generator.uniform(0.001, 0.02, shape), kind)


def any_out(case, shape, form):
    """Return a tensor for integers, and its data type's number; ``form`` is as above."""
    if form == "i1":
        return case.take(shape, "i1")[0], 2
    return int4(case.npu, numpy.zeros(shape), form == "carrier"), INT32 if form == "carrier" else INT4


def same_integers(npu, tensor, form, expected):
    """Compare with rounded numbers, which are clamped to the range of the form; they may differ by 1."""
    found = npu.get(tensor) if form == "i1" else unpack(npu.get(tensor))
    most = 127 if form == "i1" else 7
    assert found.shape == expected.shape
    assert (numpy.abs(found.astype("f8") - numpy.clip(expected, -most - 1, most)) <= 1).all()
