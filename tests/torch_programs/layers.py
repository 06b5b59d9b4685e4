"""The functions of linear algebra and of layers that are compared, and the losses."""

import torch
from case import FLOAT16, Case, bools, floats, index, positive, unit

F = torch.nn.functional
SQUARE = floats(4, 4)
IMAGE, LINE, SOLID = floats(2, 3, 8, 9), floats(2, 3, 11), floats(2, 3, 5, 6, 7)


def stable(x):
    """Return a symmetric matrix that is far from singular."""
    return x @ x.mT + 4 * torch.eye(x.shape[-1], device=x.device, dtype=x.dtype)


PRODUCTS = [
    Case("mm", torch.mm, [floats(5, 7), floats(7, 4)]),
    Case("mm_transposed", lambda x, y: x.t() @ y, [floats(7, 5), floats(7, 4)]),
    Case("bmm", torch.bmm, [floats(3, 5, 7), floats(3, 7, 4)]),
    Case("matmul_broadcast", torch.matmul, [floats(2, 1, 5, 7), floats(3, 7, 4)]),
    Case("matmul_vector", torch.matmul, [floats(3, 5, 7), floats(7)]),
    Case("mv", torch.mv, [floats(5, 7), floats(7)]),
    Case("dot", torch.dot, [floats(9), floats(9)]),
    Case("outer", torch.outer, [floats(5), floats(4)]),
    Case("addmm", lambda c, x, y: torch.addmm(c, x, y, beta=0.5, alpha=2), [floats(4), floats(5, 7), floats(7, 4)]),
    Case("addmv", torch.addmv, [floats(5), floats(5, 7), floats(7)]),
    Case("addr", torch.addr, [floats(5, 4), floats(5), floats(4)]),
    Case("addbmm", torch.addbmm, [floats(5, 4), floats(3, 5, 7), floats(3, 7, 4)]),
    Case("baddbmm", torch.baddbmm, [floats(3, 5, 4), floats(3, 5, 7), floats(3, 7, 4)]),
    Case("einsum", lambda x, y: torch.einsum("bij,bkj->bik", x, y), [floats(3, 5, 7), floats(3, 4, 7)]),
    Case("einsum_trace", lambda x: torch.einsum("ii->", x), [SQUARE]),
    Case("tensordot", lambda x, y: torch.tensordot(x, y, 2), [floats(3, 4, 5), floats(4, 5, 2)]),
    Case("kron", torch.kron, [floats(2, 3), floats(3, 2)]),
    Case("matrix_power", lambda x: torch.linalg.matrix_power(x, 3), [SQUARE]),
    Case("cross", torch.cross, [floats(5, 3), floats(5, 3)], arguments=(1,)),
    Case("cdist", torch.cdist, [floats(5, 3), floats(4, 3)], grad=False),
    Case("cov", torch.cov, [floats(3, 9)], grad=False),
    Case("corrcoef", torch.corrcoef, [floats(3, 9)], grad=False, kinds=()),
    Case("vander", lambda x: torch.vander(x, 3), [floats(5)], grad=False),
]

DECOMPOSITIONS = [
    Case("inverse", lambda x: torch.linalg.inv(stable(x)), [SQUARE], kinds=()),
    Case("det", lambda x: torch.linalg.det(stable(x)), [SQUARE], kinds=()),
    Case("slogdet", lambda x: torch.linalg.slogdet(stable(x)), [SQUARE], kinds=()),
    Case("cholesky", lambda x: torch.linalg.cholesky(stable(x)), [SQUARE], kinds=()),
    Case("qr", lambda x: torch.linalg.qr(stable(x))[1].abs(), [SQUARE], kinds=(), grad=False),
    Case("svdvals", lambda x: torch.linalg.svd(x)[1], [SQUARE], kinds=(), grad=False),
    Case("eigvalsh", lambda x: torch.linalg.eigh(stable(x))[0], [SQUARE], kinds=(), grad=False),
    Case("solve", lambda x, y: torch.linalg.solve(stable(x), y), [SQUARE, floats(4, 2)], kinds=()),
    Case("solve_triangular", lambda x, y: torch.linalg.solve_triangular(stable(x).tril(), y, upper=False),
         [SQUARE, floats(4, 2)], kinds=()),
]

LAYERS = [
    Case("linear", F.linear, [floats(3, 5, 7), floats(4, 7), floats(4)]),
    Case("linear_without_bias", F.linear, [floats(5, 7), floats(4, 7)]),
    Case("bilinear", F.bilinear, [floats(5, 3), floats(5, 4), floats(2, 3, 4), floats(2)]),
    Case("conv1d", lambda x, w, b: F.conv1d(x, w, b, padding=1), [LINE, floats(4, 3, 3), floats(4)]),
    Case("conv2d", lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1), [IMAGE, floats(4, 3, 3, 3), floats(4)]),
    Case("conv2d_dilated", lambda x, w: F.conv2d(x, w, dilation=2), [IMAGE, floats(4, 3, 3, 3)]),
    Case("conv2d_depthwise", lambda x, w: F.conv2d(x, w, groups=3, padding=1), [IMAGE, floats(6, 1, 3, 3)]),
    Case("conv2d_same", lambda x, w: F.conv2d(x, w, padding="same"), [IMAGE, floats(4, 3, 3, 3)]),
    Case("conv3d", lambda x, w, b: F.conv3d(x, w, b, padding=1), [SOLID, floats(4, 3, 3, 3, 3), floats(4)]),
    Case("conv_transpose1d", F.conv_transpose1d, [LINE, floats(3, 4, 3), floats(4)]),
    Case("conv_transpose2d", lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1),
         [IMAGE, floats(3, 4, 3, 3), floats(4)]),
    Case("conv_transpose3d", F.conv_transpose3d, [SOLID, floats(3, 4, 2, 2, 2)]),
    Case("max_pool1d", lambda x: F.max_pool1d(x, 3), [LINE]),
    Case("max_pool2d", lambda x: F.max_pool2d(x, 3, 2, 1), [IMAGE]),
    Case("max_pool3d", lambda x: F.max_pool3d(x, 2), [SOLID]),
    Case("avg_pool1d", lambda x: F.avg_pool1d(x, 3), [LINE]),
    Case("avg_pool2d", lambda x: F.avg_pool2d(x, 3, 2, 1), [IMAGE]),
    Case("avg_pool2d_counts", lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), [IMAGE]),
    Case("avg_pool3d", lambda x: F.avg_pool3d(x, 2), [SOLID]),
    Case("adaptive_avg_pool1d", lambda x: F.adaptive_avg_pool1d(x, 4), [LINE]),
    Case("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, (3, 4)), [IMAGE]),
    Case("adaptive_avg_pool2d_one", lambda x: F.adaptive_avg_pool2d(x, 1), [IMAGE]),
    Case("adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, (3, 4)), [IMAGE]),
    Case("lp_pool2d", lambda x: F.lp_pool2d(x, 2, 2), [positive(2, 3, 8, 8)]),
    Case("batch_norm", lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
         [IMAGE, floats(3), floats(3)]),
    Case("batch_norm_evaluated", F.batch_norm, [IMAGE, floats(3), positive(3), floats(3), floats(3)],
         fixed=(1, 2)),
    Case("layer_norm", lambda x, w, b: F.layer_norm(x, (7,), w, b), [floats(5, 7), floats(7), floats(7)]),
    Case("layer_norm_alone", lambda x: F.layer_norm(x, (4, 5)), [floats(3, 4, 5)]),
    Case("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), [floats(2, 4, 5, 6), floats(4), floats(4)]),
    Case("instance_norm", F.instance_norm, [IMAGE]),
    Case("rms_norm", lambda x, w: F.rms_norm(x, (7,), w), [floats(5, 7), floats(7)]),
    Case("local_response_norm", lambda x: F.local_response_norm(x, 2), [IMAGE]),
    *[
        Case(f"interpolate_{mode}", lambda x, mode=mode: F.interpolate(x, scale_factor=2, mode=mode), [image])
        for mode, image in [("nearest", IMAGE), ("bilinear", IMAGE), ("bicubic", IMAGE), ("linear", LINE),
                            ("trilinear", floats(1, 2, 3, 4, 3)), ("nearest-exact", IMAGE)]
    ],
    Case("interpolate_corners", lambda x: F.interpolate(x, (5, 13), mode="bilinear", align_corners=True), [IMAGE]),
    Case("grid_sample", lambda x, g: F.grid_sample(x, g, align_corners=False), [IMAGE, unit(2, 4, 5, 2)]),
    Case("affine_grid", lambda x: F.affine_grid(x, (2, 3, 4, 5), align_corners=False), [floats(2, 2, 3)]),
    Case("attention", F.scaled_dot_product_attention, [floats(2, 4, 6, 8)] * 3),
    Case("attention_causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
         [floats(2, 4, 6, 8)] * 3),
    Case("attention_masked", F.scaled_dot_product_attention, [floats(2, 4, 6, 8)] * 3 + [bools(6, 6, diagonal=True)]),
    Case("cosine_similarity", F.cosine_similarity, [floats(5, 7), floats(5, 7)]),
    Case("pairwise_distance", F.pairwise_distance, [floats(5, 7), floats(5, 7)]),
    Case("pdist", F.pdist, [floats(5, 3)], grad=False, kinds=FLOAT16),
]

A, T = floats(6, 5), floats(6, 5)
SIGNS = Case.signs(6)
LOSSES = [
    Case("mse_loss", F.mse_loss, [A, T]),
    Case("mse_loss_sum", lambda x, t: F.mse_loss(x, t, reduction="sum"), [A, T]),
    Case("l1_loss", F.l1_loss, [A, T]),
    Case("smooth_l1_loss", F.smooth_l1_loss, [A, T]),
    Case("huber_loss", lambda x, t: F.huber_loss(x, t, delta=0.5), [A, T]),
    Case("binary_cross_entropy", lambda x, t: F.binary_cross_entropy(x.sigmoid(), t.sigmoid()), [A, T], fixed=(1,)),
    Case("binary_cross_entropy_with_logits", lambda x, t, w: F.binary_cross_entropy_with_logits(
        x, t.sigmoid(), pos_weight=w), [A, T, positive(5)], fixed=(1, 2)),
    Case("cross_entropy", F.cross_entropy, [A, index(5, 6)]),
    Case("cross_entropy_weighted", lambda x, i, w: F.cross_entropy(x, i, w, ignore_index=2),
         [A, index(5, 6), positive(5)], fixed=(2,)),
    Case("cross_entropy_smooth", lambda x, i: F.cross_entropy(x, i, label_smoothing=0.1), [A, index(5, 6)]),
    Case("cross_entropy_of_images", F.cross_entropy, [floats(2, 5, 3, 4), index(5, 2, 3, 4)]),
    Case("cross_entropy_of_chances", lambda x, t: F.cross_entropy(x, t.softmax(1)), [A, T]),
    Case("nll_loss", lambda x, i: F.nll_loss(x.log_softmax(1), i), [A, index(5, 6)]),
    Case("kl_div", lambda x, t: F.kl_div(x.log_softmax(1), t.softmax(1), reduction="batchmean"), [A, T]),
    Case("kl_div_of_logs", lambda x, t: F.kl_div(x.log_softmax(1), t.log_softmax(1), log_target=True), [A, T]),
    Case("cosine_embedding_loss", F.cosine_embedding_loss, [A, T, SIGNS], fixed=(2,)),
    Case("margin_ranking_loss", F.margin_ranking_loss, [floats(6), floats(6), SIGNS], fixed=(2,)),
    Case("hinge_embedding_loss", F.hinge_embedding_loss, [floats(6), SIGNS], fixed=(1,)),
    Case("triplet_margin_loss", F.triplet_margin_loss, [A, T, floats(6, 5)]),
    Case("soft_margin_loss", F.soft_margin_loss, [floats(6), SIGNS], fixed=(1,)),
    Case("poisson_nll_loss", F.poisson_nll_loss, [A, positive(6, 5)], fixed=(1,)),
    Case("gaussian_nll_loss", F.gaussian_nll_loss, [A, T, positive(6, 5)]),
    Case("multilabel_soft_margin_loss", lambda x, t: F.multilabel_soft_margin_loss(x, t.sigmoid()), [A, T], fixed=(1,)),
    Case("multi_margin_loss", F.multi_margin_loss, [A, index(5, 6)], kinds=()),
    Case("multilabel_margin_loss", F.multilabel_margin_loss, [A, index(5, 6, 5)], kinds=()),
    Case("ctc_loss", lambda x, t: F.ctc_loss(x.log_softmax(2), t, torch.tensor([7, 7]), torch.tensor([3, 3])),
         [floats(7, 2, 5), index(4, 2, 3, low=1)], kinds=()),
]

CASES = [*PRODUCTS, *DECOMPOSITIONS, *LAYERS, *LOSSES]
