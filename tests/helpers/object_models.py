"""Models for the tests of acl.Model: contents of files, and the functions that execute them."""

import numpy

import acl
from acl._lib import AIPP_INPUT as AIPP
from acl.sim import om

F4, I4, U1 = 0, 3, 4


def affine(x):
    if x[0] < 0:
        raise ValueError("it is negative")
    return 2 * x + 1


def content(name, inputs, outputs, **options):
    return om.write(name, inputs, outputs, weights=bytes(64), work=64, **options)


BATCHES = om.Gears(om.BATCH, [[1], [4], [8]], [(g, 0, (n, 3)) for g, n in enumerate((1, 4, 8))])
SIZES = om.Gears(om.HW, [[2, 2], [4, 6]], [(0, 0, (1, 2, 2)), (1, 0, (1, 4, 6))])
DIMS = om.Gears(om.DIMS, [[1, 2, 3], [4, 5, 6]], [(0, 0, (1, 2)), (1, 0, (4, 5))])
ROWS = om.Tensor("x", (-1, 2), F4, ranges=((1, 10), (2, 2)))
PAIR = [om.Tensor("a", (2, 2)), om.Tensor("b", (2, 2), I4)], [om.Tensor("sum", (2, 2)), om.Tensor("turned", (2, 2), I4)]
IMAGES = [om.Tensor("x", (1, 2, 2, 3), F4, 1, 12), om.Tensor(AIPP, (160,), U1)]

# By name: the function, and the contents of the file.
MODELS = {
    "affine": (affine, content("affine", [om.Tensor("x", (2,))], [om.Tensor("y", (2,))])),
    "pair": (lambda a, b: (a + b, b.T), content("pair", *PAIR)),
    "batched": (
        lambda x: x * len(x), content("batched", [om.Tensor("x", (-1, 3))], [om.Tensor("y", (8, 3))], gears=BATCHES),
    ),
    "sized": (
        lambda x: x + x.shape[1] * 10 + x.shape[2],
        content("sized", [om.Tensor("x", (1, -1, -1))], [om.Tensor("y", (1, 4, 6))], gears=SIZES),
    ),
    "free": (
        lambda a, b: a + b.size,
        content("free", [om.Tensor("a", (-1, -1)), om.Tensor("b", (2, -1))], [om.Tensor("y", (4, 5))], gears=DIMS),
    ),
    "open": (lambda x: x.sum(axis=1), content("open", [ROWS], [om.Tensor("y", (-1,))], dynamic=True)),
    "image": (lambda x: x, content("image", IMAGES, [om.Tensor("y", (1, 2, 2, 3), F4, 1)])),
}  # fmt: skip


def register():
    for name, (function, _) in MODELS.items():
        acl.sim.model(name)(function)


def forget():
    for name in MODELS:
        acl.sim.model(name)(None)


def load(name, **options):
    """Load a model of :data:`MODELS`."""
    return acl.Model(MODELS[name][1], **options)


def floats(*values):
    return numpy.array(values, "f4")
