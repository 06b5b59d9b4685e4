"""Pooling, resizing and sampling of images against PyTorch."""

import pytest
import torch
from helpers.torch_peer import SINGLE, documented, each, same, summed

pytestmark = [pytest.mark.torch, pytest.mark.needs_sim]
F = torch.nn.functional
aten = torch.ops.aten


def images(source, kind, dims, least=1, most=7, wild=False, lead=None):
    """Return a batch of images, or one without the batch."""
    shape = [source.random.randint(1, 2), source.random.randint(1, 3)][source.one(0, 0, 1) if lead is None else lead :]
    shape += [source.random.randint(least, most) for _ in range(dims)]
    return source.take(shape, kind, wild=wild)


def windows(source, x, dims, dilates=False):
    """Return kernel, stride, padding and dilation of windows that fit into the images."""
    kernel = [source.random.randint(1, min(3, size)) for size in x.shape[-dims:]]
    stride = [source.random.randint(1, 3) for _ in kernel]
    padding = [source.random.randint(0, size // 2) for size in kernel]
    dilation = [1 for _ in kernel]
    if dilates:
        dilation = [source.one(1, 2) if 2 * (k - 1) + 1 <= n else 1 for k, n in zip(kernel, x.shape[-dims:])]
    return kernel, stride, padding, dilation


@pytest.mark.parametrize("dims", [2, 3])
def test_average_pools(peer, dims):
    function = F.avg_pool2d if dims == 2 else F.avg_pool3d
    for kind, source in each(SINGLE, "avg_pool", dims):
        x = images(source, kind, dims)
        kernel, stride, padding, _ = windows(source, x, dims)
        ceil, counts, divisor = source.one(True, False), source.one(True, False), source.one(0, 0, 3)
        rest = kernel, stride, padding, ceil, counts
        leaf = x.double().requires_grad_()
        expected = function(leaf, *rest, divisor or None)
        size = function(x.double().abs(), *rest, divisor or None)
        math_type = (0,) if dims == 2 else ()
        out = source.like(expected, kind)
        peer.run(f"avg_pool{dims}d", x, *rest, divisor, *math_type, out)
        note = (kind, tuple(x.shape), rest, divisor)
        summed(out, expected.detach(), size, note)
        g = source.take(expected.shape, kind, wild=False)
        expected.backward(g.double())
        found = source.like(x)
        peer.run(f"avg_pool{dims}d_backward", g, x, *rest, divisor, *math_type, found)
        summed(found, leaf.grad, None, note)


def test_max_pool_with_indices(peer):
    for kind, source in each(SINGLE, "max_pool2d"):
        with documented(kind):
            x = images(source, kind, 2, wild=source.one(True, False))
            kernel, stride, padding, dilation = windows(source, x, 2)
            rest = kernel, stride, padding, dilation, source.one(True, False)
            expected, places = F.max_pool2d(x.float(), *rest, return_indices=True)
            out, indices = source.like(expected, kind), source.like(places, "i4")
            peer.run("max_pool2d_with_indices", x, *rest, out, indices)
            same(out, expected.to(x.dtype), (kind, rest))
            same(indices, places, (kind, rest))
            g = source.take(expected.shape, kind, wild=False)
            wanted = aten.max_pool2d_with_indices_backward(g.double(), x.double(), *rest, places)
            found = peer.run("max_pool2d_with_indices_backward", g, x, indices, *rest, source.like(x))
            summed(found, wanted, 40.0, (kind, rest))


def test_max_pool_with_a_mask(peer):
    for kind, source in each(SINGLE, "max_pool2d_with_mask"):
        with documented(kind):
            x = images(source, kind, 2)
            kernel, stride, padding, dilation = windows(source, x, 2)
            rest = kernel, stride, padding, dilation, source.one(True, False)
            expected, places = F.max_pool2d(x.float(), *rest, return_indices=True)
            width = (-(-expected.shape[-1] * expected.shape[-2] // 16) + 1) * 32
            mask = torch.zeros([*x.shape[:-2], kernel[0] * kernel[1], width], dtype=torch.int8)
            out = source.like(expected, kind)
            peer.run("max_pool2d_with_mask", x, *rest, out, mask)
            same(out, expected.to(x.dtype), (kind, rest))
            g = source.take(expected.shape, kind, wild=False)
            wanted = aten.max_pool2d_with_indices_backward(g.double(), x.double(), *rest, places)
            found = peer.run("max_pool2d_with_mask_backward", g, x, mask, *rest, source.like(x))
            summed(found, wanted, 40.0, (kind, rest))


def test_max_pool_of_volumes(peer):
    for kind, source in each(SINGLE, "max_pool3d"):
        with documented(kind):
            x = images(source, kind, 3, most=5)
            kernel, stride, padding, dilation = windows(source, x, 3, dilates=True)
            rest = kernel, stride, padding, dilation, source.one(True, False)
            try:
                expected, places = F.max_pool3d(x.float().contiguous(), *rest, return_indices=True)
            except RuntimeError:  # the dilated window does not fit
                continue
            out, indices = source.like(expected, kind), source.like(places, "i4")
            peer.run("max_pool3d_with_argmax", x, *rest, out, indices)
            same(out, expected.to(x.dtype), (kind, rest))
            same(indices, places, (kind, rest))
            g = source.take(expected.shape, kind, wild=False)
            wide = [each.double().contiguous() for each in (g, x)]
            wanted = aten.max_pool3d_with_indices_backward(*wide, *rest, places.contiguous())
            found = peer.run("max_pool3d_with_argmax_backward", g, x, indices, *rest, source.like(x))
            summed(found, wanted, 40.0, (kind, rest))


def test_plain_max_pool(peer):
    for kind, source in each("f4 f2", "max_pool"):
        x = images(source, kind, 2)
        kernel, stride, padding, _ = windows(source, x, 2)
        ceil = source.one(True, False)
        expected = F.max_pool2d(x.float(), kernel, stride, padding, 1, ceil)
        found = source.like(expected, kind)
        peer.run("max_pool", x, kernel, stride, 0, padding, [1, 1], int(ceil), found)
        same(found, expected.to(x.dtype), (kind, kernel, stride, padding, ceil))


@pytest.mark.parametrize("dims", [2, 3])
def test_adaptive_pools(peer, dims):
    for kind, source in each(SINGLE, "adaptive", dims):
        with documented(kind):
            x = images(source, kind, dims)
            size = [source.random.randint(1, 6) for _ in range(dims)]
            leaf = x.double().requires_grad_()
            expected = (F.adaptive_avg_pool2d if dims == 2 else F.adaptive_avg_pool3d)(leaf, size)
            found = peer.run(f"adaptive_avg_pool{dims}d", x, size, source.like(expected, kind))
            summed(found, expected.detach(), None, (kind, tuple(x.shape), size))
            g = source.take(expected.shape, kind, wild=False)
            expected.backward(g.double())
            found = peer.run(f"adaptive_avg_pool{dims}d_backward", g, x, source.like(x))
            summed(found, leaf.grad, None, (kind, tuple(x.shape), size))
    for kind, source in each(SINGLE, "adaptive max", dims):
        with documented(kind):
            x = images(source, kind, dims)
            size = [source.random.randint(1, 6) for _ in range(dims)]
            function = F.adaptive_max_pool2d if dims == 2 else F.adaptive_max_pool3d
            expected, places = function(x.float(), size, True)
            out, indices = source.like(expected, kind), source.like(places, "i4" if dims == 3 else "i8")
            peer.run(f"adaptive_max_pool{dims}d", x, size, out, indices)
            same(out, expected.to(x.dtype), (kind, size))
            same(indices, places, (kind, size))
            if dims == 3:
                g = source.take(expected.shape, kind, wild=False)
                wanted = aten.adaptive_max_pool3d_backward(g.double(), x.double(), places)
                found = peer.run("adaptive_max_pool3d_backward", g, x, indices, source.like(x))
                summed(found, wanted, 40.0, (kind, size))


def test_global_pools(peer):
    for kind, source in each("f4 f2", "global"):
        x = images(source, kind, 2, lead=0)
        found = peer.run("global_average_pool", x, source.blank([*x.shape[:2], 1, 1], kind))
        summed(found, x.double().mean([2, 3], True), x.double().abs().mean([2, 3], True), kind)
        found = peer.run("global_max_pool", x, source.blank([*x.shape[:2], 1, 1], kind))
        same(found, x.amax([2, 3], True), kind)


def test_unpool(peer):
    for kind, source in each("f4 f2", "unpool"):
        image = images(source, kind, 2, least=2, most=6)
        x, places = F.max_pool2d(image.float(), 2, 2, return_indices=True)
        x, size = source.view(x.to(image.dtype)), list(image.shape[-2:])
        expected = F.max_unpool2d(x.float(), places, 2, 2, output_size=size)
        found = peer.run("max_unpool2d", x, places, size, source.like(image))
        same(found, expected.to(image.dtype), kind)
        g = source.take(image.shape, kind, wild=False)
        wanted = g.flatten(-2).gather(-1, places.flatten(-2)).reshape(x.shape)
        same(peer.run("max_unpool2d_backward", g, x, places, size, source.like(x)), wanted, kind)


# --- Resizing: the operator, PyTorch's function, its dimensions, whether there are align_corners, and scales

RESIZES = {
    "upsample_linear1d": ("upsample_linear1d", 1, True, True),
    "upsample_bilinear2d": ("upsample_bilinear2d", 2, True, True),
    "upsample_bicubic2d": ("upsample_bicubic2d", 2, True, True),
    "upsample_trilinear3d": ("upsample_trilinear3d", 3, True, True),
    "upsample_nearest1d": ("upsample_nearest1d", 1, False, False),
    "upsample_nearest2d": ("upsample_nearest2d", 2, False, False),
    "upsample_nearest1d_v2": ("upsample_nearest1d", 1, False, True),
    "upsample_nearest2d_v2": ("upsample_nearest2d", 2, False, True),
    "upsample_nearest3d": ("upsample_nearest3d", 3, False, True),
    "upsample_nearest_exact1d": ("_upsample_nearest_exact1d", 1, False, True),
    "upsample_nearest_exact2d": ("_upsample_nearest_exact2d", 2, False, True),
    "upsample_nearest_exact3d": ("_upsample_nearest_exact3d", 3, False, True),
    "upsample_bilinear2d_aa": ("_upsample_bilinear2d_aa", 2, True, True),
    "upsample_bicubic2d_aa": ("_upsample_bicubic2d_aa", 2, True, True),
}


def resized(source, x, dims):
    """Return the size of the result, and the scales: 0 for those that the sizes give."""
    scales = [0.0] * dims
    size = [source.random.randint(1, 9) for _ in range(dims)]
    if source.one(True, False):
        scales = [source.one(0.5, 1.5, 2.0, 3.0, 1.3) for _ in range(dims)]
        size = [max(1, int(length * scale)) for length, scale in zip(x.shape[-dims:], scales)]
        # If the size stays, PyTorch ignores the scale, and the operators do not.
        scales = [scale * (now != then) for scale, now, then in zip(scales, size, x.shape[-dims:])]
    return size, scales


@pytest.mark.parametrize("name", RESIZES)
def test_resizing(peer, name):
    function, dims, corners, scaled = RESIZES[name]
    for kind, source in each(SINGLE, name, rounds=12):
        with documented(kind):
            x = images(source, kind, dims, lead=0)
            size, scales = resized(source, x, dims)
            if not scaled:
                scales = [0.0] * dims
            flags = [source.one(True, False)] if corners else []
            if "aa" in name and 1 in (*size, *x.shape[2:]):
                continue  # PyTorch takes the wrong elements of images that are one element wide
            leaf = x.double().requires_grad_()
            known = [scale or None for scale in scales]
            expected = getattr(aten, function)(leaf, size, *flags, *known)
            out = source.like(expected, kind)
            peer.run(name, x, size, *flags, *(scales if scaled else ()), out)
            note = (kind, tuple(x.shape), size, flags, scales)
            part = 1e-4 if kind == "f4" and "nearest" not in name else None
            summed(out, expected.detach(), None, note, part)


BACKWARD = {
    "upsample_linear1d_backward": ("upsample_linear1d", 1, True, True),
    "upsample_bilinear2d_backward": ("upsample_bilinear2d", 2, True, True),
    "upsample_bilinear2d_backward_v2": ("upsample_bilinear2d", 2, True, True),
    "upsample_bicubic2d_backward": ("upsample_bicubic2d", 2, True, True),
    "upsample_trilinear3d_backward": ("upsample_trilinear3d", 3, True, True),
    "upsample_nearest1d_backward": ("upsample_nearest1d", 1, False, True),
    "upsample_nearest2d_backward": ("upsample_nearest2d", 2, False, True),
    "upsample_nearest3d_backward": ("upsample_nearest3d", 3, False, True),
    "upsample_nearest_exact1d_backward": ("_upsample_nearest_exact1d", 1, False, True),
    "upsample_nearest_exact2d_backward": ("_upsample_nearest_exact2d", 2, False, True),
    "upsample_nearest_exact3d_backward": ("_upsample_nearest_exact3d", 3, False, True),
    "upsample_bilinear2d_aa_backward": ("_upsample_bilinear2d_aa", 2, True, True),
    "upsample_bicubic2d_aa_grad": ("_upsample_bicubic2d_aa", 2, True, True),
}


@pytest.mark.parametrize("name", BACKWARD)
def test_gradients_of_resizing(peer, name):
    function, dims, corners, _ = BACKWARD[name]
    for kind, source in each(SINGLE, name, rounds=12):
        with documented(kind):
            shape = [source.random.randint(1, 2), source.random.randint(1, 3)]
            shape += [source.random.randint(1, 7) for _ in range(dims)]
            leaf = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
            size, scales = resized(source, leaf, dims)
            flags = [source.one(True, False)] if corners else []
            if "aa" in name and 1 in (*size, *shape[2:]):
                continue
            expected = getattr(aten, function)(leaf, size, *flags, *(scale or None for scale in scales))
            g = source.take(expected.shape, kind, wild=False)
            expected.backward(g.double())
            found = source.blank(shape, kind)
            peer.run(name, g, size, shape, *flags, *scales, found)
            note = (kind, shape, size, flags, scales)
            summed(found, leaf.grad, None, note, 1e-4 if kind == "f4" else None)


def test_grid_samples(peer):
    for dims, name in ((2, "grid_sampler2_d"), (3, "grid_sampler3_d")):
        for kind, source in each(SINGLE, name, rounds=30):
            with documented(kind):
                x = images(source, kind, dims, lead=0, most=5)
                places = [x.shape[0], *(source.random.randint(1, 4) for _ in range(dims)), dims]
                grid = source.take(places, kind, low=-1.6, high=1.6, wild=False)
                modes = source.one(0, 1, 2) if dims == 2 else source.one(0, 1), source.one(0, 1, 2)
                modes = *modes, source.one(True, False)
                function = torch.grid_sampler_2d if dims == 2 else torch.grid_sampler_3d
                leaf, moved = x.double().requires_grad_(), grid.double().requires_grad_()
                expected = function(leaf, moved, *modes)
                found = peer.run(name, x, grid, *modes, source.like(expected, kind))
                note = (kind, tuple(x.shape), modes)
                if modes[0] == 1 and kind != "f4":
                    continue  # half way between two elements, rounding decides
                summed(found, expected.detach(), 10.0, note, 1e-4 if kind == "f4" else None)
                if kind != "f4":
                    continue
                g = source.take(expected.shape, kind, wild=False)
                expected.backward(g.double())
                grads = [source.like(x), source.like(grid)]
                peer.run(f"{name}_backward", g, x, grid, *modes, [True, True], *grads)
                summed(grads[0], leaf.grad, 20.0, note, 1e-4)
                if modes[1] != 2:  # where a reflection turns, the gradient has no agreed sign
                    summed(grads[1], moved.grad, 200.0, note, 1e-4)


def test_affine_grid(peer):
    for kind, source in each("f4", "affine_grid"):
        dims, corners = source.one(2, 3), source.one(True, False)
        size = [2, 3, *(source.random.randint(1, 5) for _ in range(dims))]
        theta = source.take([2, dims, dims + 1], kind, wild=False)
        expected = F.affine_grid(theta.double(), size, corners)
        summed(peer.run("affine_grid", theta, size, corners, source.like(expected, kind)), expected, None, kind)
