"""Losses with their reductions and gradients against PyTorch."""

import pytest
import torch
from helpers.torch_peer import SINGLE, TYPES, each, pointwise, summed

pytestmark = [pytest.mark.torch, pytest.mark.needs_sim]
F = torch.nn.functional
aten = torch.ops.aten
REDUCTIONS = ("none", "mean", "sum")
ROUNDS = 24


def probabilities(source, shape, kind):
    return source.take(shape, kind, wild=False, low=0.02, high=0.98)


def plain(source, shape, kind):
    return source.take(shape, kind, wild=False)


def signs(source, shape, kind):
    return source.view(source.values(shape, "?").to(TYPES[kind]) * 2 - 1)


# By the operator: the function of two tensors, the values of both, further arguments of C after the reduction and of
# PyTorch, whether the gradient has an operator, and where the further arguments stand: after the reduction.
LOSSES = {
    "mse_loss": (F.mse_loss, plain, plain, [((), {})]),
    "l1_loss": (F.l1_loss, plain, plain, [((), {})]),
    "smooth_l1_loss": (F.smooth_l1_loss, plain, plain, [((0.5,), {"beta": 0.5}), ((0.0,), {"beta": 0.0})]),
    "soft_margin_loss": (F.soft_margin_loss, plain, signs, [((), {})]),
    "kl_div": (
        F.kl_div, plain, probabilities, [((False,), {"log_target": False}), ((True,), {"log_target": True})]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_loss(peer, name):
    function, first, second, choices = LOSSES[name]
    for kind, source in each(SINGLE, name, rounds=ROUNDS):
        shape, reduction = source.shape(least=1, empty=False), source.random.randrange(3)
        further, named = source.one(*choices)
        x, y = first(source, shape, kind), second(source, shape, kind)
        leaf = x.double().requires_grad_()
        expected = function(leaf, y.double(), reduction=REDUCTIONS[reduction], **named)
        found = peer.run(name, x, y, reduction, *further, source.like(expected, kind))
        note = (name, kind, REDUCTIONS[reduction], further)
        summed(found, expected.detach(), None, note)
        g = plain(source, expected.shape, kind)
        expected.backward(g.double())
        found = peer.run(f"{name}_backward", g, x, y, reduction, *further, source.like(x))
        summed(found, leaf.grad, None, note)


@pytest.mark.parametrize("logits", [False, True])
def test_binary_cross_entropy(peer, logits):
    name = "binary_cross_entropy_with_logits" if logits else "binary_cross_entropy"
    function = F.binary_cross_entropy_with_logits if logits else F.binary_cross_entropy
    for kind, source in each(SINGLE, name, rounds=ROUNDS):
        shape, reduction = source.shape(least=2, empty=False), source.random.randrange(3)
        x = plain(source, shape, kind) if logits else probabilities(source, shape, kind)
        y = probabilities(source, shape, kind)
        weights = [source.one(None, probabilities(source, shape, kind))]
        weights += [source.one(None, probabilities(source, shape[-1:], kind))] * logits
        wide = [None if weight is None else weight.double() for weight in weights]
        named = {"weight": wide[0], **({"pos_weight": wide[1]} if logits else {})}
        leaf = x.double().requires_grad_()
        expected = function(leaf, y.double(), reduction=REDUCTIONS[reduction], **named)
        found = peer.run(name, x, y, *weights, reduction, source.like(expected, kind))
        note = (name, kind, REDUCTIONS[reduction])
        summed(found, expected.detach(), None, note)
        g = plain(source, expected.shape, kind)
        expected.backward(g.double())
        found = peer.run(f"{name}_backward", g, x, y, *weights, reduction, source.like(x))
        summed(found, leaf.grad, None, note)


def test_edges_of_binary_cross_entropy(peer):
    x = torch.tensor([0.0, 1.0, 0.0, 1.0, 0.5])
    y = torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0])
    expected = F.binary_cross_entropy(x, y, reduction="none")
    pointwise(peer.run("binary_cross_entropy", x, y, None, 0, torch.zeros(5)), expected)
    g = torch.ones(5)
    expected = aten.binary_cross_entropy_backward(g, x, y, None, 0)
    pointwise(peer.run("binary_cross_entropy_backward", g, x, y, None, 0, torch.zeros(5)), expected)


@pytest.mark.parametrize("name", ["nll_loss", "nll_loss2d"])
def test_nll_loss(peer, name):
    for kind, source in each("f4 b2", name, rounds=ROUNDS):
        classes, reduction = source.random.randint(1, 6), source.random.randrange(3)
        lead = [source.random.randint(1, 4)]
        more = [source.random.randint(1, 3), source.random.randint(1, 3)] if name == "nll_loss2d" else []
        x = plain(source, [*lead, classes, *more], kind)
        target = source.take([*lead, *more], source.one("i4", "i8"), low=0, high=classes - 1)
        ignore = source.one(-100, 0, classes - 1)
        weight = probabilities(source, [classes], kind)
        forward = aten.nll_loss2d_forward if more else aten.nll_loss_forward
        expected, total = forward(x.double(), target.long(), weight.double(), reduction, ignore)
        out = source.like(expected, kind)
        total_out = source.blank([] if source.one(True, False) else [1], kind)
        peer.run(name, x, target, weight, reduction, ignore, out, total_out)
        note = (name, kind, REDUCTIONS[reduction], ignore)
        summed(out, expected, None, note)
        if reduction:
            summed(total_out.reshape([]), total, None, note)
        g = plain(source, expected.shape, kind)
        total = total.to(x.dtype).reshape([1])
        backward = aten.nll_loss2d_backward if more else aten.nll_loss_backward
        wide = [each.double().contiguous() for each in (g, x)]
        expected = backward(*wide, target.long(), weight.double(), reduction, ignore, total.double().reshape([]))
        found = peer.run(f"{name}_backward", g, x, target, weight, reduction, ignore, total, source.like(x))
        summed(found, expected, None, note)


def test_cross_entropy(peer):
    for kind, source in each(SINGLE, "cross_entropy", rounds=ROUNDS):
        rows, classes = source.random.randint(1, 5), source.random.randint(1, 6)
        x = plain(source, [rows, classes], kind)
        target = source.take([rows], "i8", low=0, high=classes - 1)
        way, ignore, smoothing = source.one(*REDUCTIONS), source.one(-100, 0), source.one(0.0, 0.1)
        weight = source.one(None, probabilities(source, [classes], "f4"))
        leaf = x.double().requires_grad_()
        wide = None if weight is None else weight.double()
        expected = F.cross_entropy(leaf, target, wide, None, ignore, None, way, smoothing)
        loss = source.blank([rows] if way == "none" else [1], kind)
        logs, zloss, lse = source.like(x), source.blank([1], kind), source.blank([rows], kind)
        peer.run("cross_entropy_loss", x, target, weight, way, ignore, smoothing, 0.0, False, loss, logs, zloss, lse)
        note = (kind, way, ignore, smoothing, weight)
        summed(loss.reshape(expected.shape), expected.detach(), None, note)
        wanted = F.log_softmax(x.double(), 1)
        summed(logs, wanted, None, note)
        g = plain(source, loss.shape, kind)
        expected.backward(g.double().reshape(expected.shape))
        found = peer.run(
            "cross_entropy_loss_grad", g, source.view(wanted.to(x.dtype)), target, weight, None, None, way, ignore,
            smoothing, 0.0, source.like(x),
        )  # fmt: skip
        nan = leaf.grad.isnan()
        summed(found.where(~nan, 0), leaf.grad.where(~nan, 0), g.abs().max().item() + 1e-6, note)


def test_multilabel_margin_loss(peer):
    for kind, source in each("f4 f2", "multilabel", rounds=ROUNDS):
        shape, reduction = [source.random.randint(1, 4), source.random.randint(1, 5)], source.random.randrange(3)
        shape = shape[source.one(0, 0, 1) :]
        x = plain(source, shape, kind)
        target = source.take(shape, "i8", low=-1, high=shape[-1] - 1)
        expected, marks = aten.multilabel_margin_loss_forward(x.double(), target.contiguous(), reduction)
        out, is_target = source.like(expected, kind), source.blank(shape, kind)
        peer.run("multilabel_margin_loss", x, target, reduction, out, is_target)
        summed(out, expected, None, (kind, reduction))
        summed(is_target, marks.to(torch.float64), None, (kind, reduction))


@pytest.mark.parametrize("mode", REDUCTIONS)
def test_ctc_loss(peer, mode):
    for _, source in each("f4", "ctc", mode, rounds=ROUNDS):
        steps, batch, classes = source.random.randint(4, 9), source.random.randint(1, 3), source.random.randint(2, 5)
        scores = source.values([steps, batch, classes], "f4", wild=False)
        logs = source.view(F.log_softmax(scores, -1))
        lengths = [source.random.randint(4, steps) for _ in range(batch)]
        sizes = [source.random.randint(1, 3) for _ in range(batch)]
        blank = source.random.randrange(classes)
        labels = [label for label in range(classes) if label != blank]
        most = max([*sizes, 1])
        targets = torch.tensor([[source.one(*labels) for _ in range(most)] for _ in range(batch)])
        if mode == "sum" and sum(sizes):  # one line of the targets of all
            rows = [row[:size] for row, size in zip(targets, sizes)]
            targets = torch.cat(rows)
        zero = source.one(True, False)
        leaf = logs.double().requires_grad_()
        losses, alphas = aten._ctc_loss(leaf, targets, lengths, sizes, blank, zero)
        loss, alpha = source.blank([batch], "f4"), source.blank([batch, steps, 2 * most + 1], "f4")
        peer.run("ctc_loss", logs, targets, lengths, sizes, blank, zero, loss, alpha)
        if zero:
            losses = losses.where(losses.isfinite(), 0)
        summed(loss, losses.detach(), None, (lengths, sizes, blank, zero))
        g = plain(source, [batch], "f4")
        expected = aten._ctc_loss_backward(
            g.double(), logs.double(), targets, lengths, sizes, aten._ctc_loss(
                logs.double(), targets, lengths, sizes, blank, zero
            )[0], alphas.detach(), blank, zero,
        )  # fmt: skip
        found = peer.run(
            "ctc_loss_backward", g, logs, targets, lengths, sizes, loss, alpha, blank, zero, source.like(logs)
        )
        summed(found, expected, None, (lengths, sizes, blank, zero), 1e-4)
