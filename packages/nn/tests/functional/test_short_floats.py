"""Functions of several steps in float16 and bfloat16 have the values and gradients of float64, rounded."""

from __future__ import annotations

import pytest
from samples import ROWS

import taeda
from taeda.nn import functional as F

DTYPES = (taeda.float16, taeda.bfloat16)
LABELS = taeda.tensor([0, 2, 1, 3])
#: each function of x of shape (4, 6) that is no row of the operator table, and is written in several steps
CASES = {
    "cosine_similarity": lambda x: F.cosine_similarity(x, x.flip(0).detach() + 1),
    "cross_entropy": lambda x: F.cross_entropy(x, LABELS, label_smoothing=0.1),
    "embedding_bag": lambda x: F.embedding_bag(taeda.tensor([[0, 1, 1, 3]]), x, mode="mean"),
    "fold": lambda x: F.fold(x[None, :, :2], (3, 2), (2, 2)),
    "gaussian_nll_loss": lambda x: F.gaussian_nll_loss(x[:2], x[2:], x[:2].abs() + 0.1, full=True),
    "glu": lambda x: F.glu(x, 0),
    "interpolate": lambda x: F.interpolate(x[None, None], scale_factor=2.0, mode="bilinear"),
    "linear_cross_entropy": lambda x: F.linear_cross_entropy(x / 64, x.flip(0) / 64, LABELS),
    "local_response_norm": lambda x: F.local_response_norm(x[None], 3, alpha=1.0),
    "logsigmoid": F.logsigmoid,
    "lp_pool1d": lambda x: F.lp_pool1d(x[None], 2, 2),
    "lp_pool2d": lambda x: F.lp_pool2d(x[None].abs(), 3.0, 2),
    "lp_pool3d": lambda x: F.lp_pool3d(x[None, None].abs(), 2.5, (1, 2, 2)),
    "multilabel_soft_margin_loss": lambda x: F.multilabel_soft_margin_loss(x, (x > 0).to(x.dtype)),
    "normalize": lambda x: F.normalize(x, 3.0, 1),
    "pairwise_distance": lambda x: F.pairwise_distance(x, x.flip(0), 3.0),
    "pdist": F.pdist,
    "softsign": F.softsign,
    "tanhshrink": F.tanhshrink,
    "triplet_margin_with_distance_loss": lambda x: F.triplet_margin_with_distance_loss(
        x, x.flip(0).detach() / 2, x.flip(1).detach() / 2
    ),
    "cross_entropy of many": lambda x: F.cross_entropy(x.repeat(2048, 1), LABELS.repeat(2048)),
    "cross_entropy of many, smoothed": lambda x: F.cross_entropy(
        x.repeat(2048, 1), LABELS.repeat(2048), label_smoothing=0.2
    ),
    "cross_entropy of many, weighted": lambda x: F.cross_entropy(
        x.repeat(2048, 1),
        LABELS.repeat(2048),
        taeda.arange(1.0, 7).to(x.dtype),
        label_smoothing=0.2,
    ),
    "cross_entropy of probabilities of many": lambda x: F.cross_entropy(
        x.repeat(2048, 1), taeda.eye(6, dtype=x.dtype)[LABELS.repeat(2048)]
    ),
    "binary_cross_entropy_with_logits, weighted": lambda x: F.binary_cross_entropy_with_logits(
        x, taeda.zeros_like(x), pos_weight=x.new_full((6,), 2), weight=x.new_full((6,), 3)
    ),
    "kl_div": lambda x: F.kl_div(x, (x.flip(0).detach() / 64).abs() + 0.5, reduction="batchmean"),
    "kl_div of logarithms": lambda x: F.kl_div(
        x, -x.flip(0).detach().abs(), reduction="sum", log_target=True
    ),
    "poisson_nll_loss": lambda x: F.poisson_nll_loss(
        x.abs() + 1, x.detach().abs(), log_input=False, full=True
    ),
    "hinge_embedding_loss": lambda x: F.hinge_embedding_loss(x, x.detach().sign()),
    "margin_ranking_loss": lambda x: F.margin_ranking_loss(x, x.flip(0) / 2, x.detach().sign()),
    "triplet_margin_loss": lambda x: F.triplet_margin_loss(
        x, x.flip(0).detach() / 2, x.flip(1).detach() / 2, swap=True
    ),
    "cosine_embedding_loss": lambda x: F.cosine_embedding_loss(
        x, x.flip(0) + 1, LABELS.sign() * 2 - 1, 0.1
    ),
    "multi_margin_loss": lambda x: F.multi_margin_loss(x, LABELS, p=2),
    "multilabel_margin_loss": lambda x: F.multilabel_margin_loss(
        x, taeda.tensor([[0, 2, -1, 0, 0, 0]] * 4)
    ),
    "multilabel_soft_margin_loss, weighted": lambda x: F.multilabel_soft_margin_loss(
        x, (x > 0).to(x.dtype), x.new_full((6,), 3)
    ),
    "huber_loss": lambda x: F.huber_loss(x, x.flip(0).detach() / 2, delta=2.0),
    "soft_margin_loss": lambda x: F.soft_margin_loss(x, x.detach().sign()),
    "norm_except_dim": lambda x: taeda.norm_except_dim(x, 2, 0),
    "corrcoef": lambda x: taeda.corrcoef(x),
}
#: and why the others are not among them
ELSEWHERE = {
    "a copy, a choice or a name of a row, of one step": {
        "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d_with_indices",
        "adaptive_max_pool3d_with_indices", "celu_", "conv_tbc", "elu_", "fractional_max_pool2d",
        "fractional_max_pool2d_with_indices", "fractional_max_pool3d", "leaky_relu_",
        "fractional_max_pool3d_with_indices", "hardtanh_", "max_unpool1d", "max_unpool2d",
        "max_unpool3d", "native_channel_shuffle", "relu_", "rrelu_", "selu_", "softmin", "threshold_",
        "upsample", "upsample_bilinear", "upsample_nearest",
    },
    "draws numbers": {
        "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
        "gumbel_softmax",
    },
    "a place in an image: which cell it is in is a matter of rounding": {"affine_grid", "grid_sample"},
    "refuses 16 bits": {"ctc_loss"},
    "products, of which each is rounded": {"multi_head_attention_forward"},
}  # fmt: skip


def test_every_function_is_tried_or_has_its_reason():
    known = {name.partition(".")[0] for name in ROWS} | set(CASES).union(*ELSEWHERE.values())
    assert [name for name in F.__all__ if name not in known] == []


@pytest.mark.parametrize("size", [1e-2, 1.0, 30.0, 300.0, 3000.0])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_of_several_steps(name, dtype, size):
    f, made = CASES[name], []
    taeda.manual_seed(7)
    short = (taeda.randn(4, 6) * size).to(dtype)
    for x in (short, short.double()):
        y = f(x.requires_grad_())
        taeda.manual_seed(8)
        cotangent = (taeda.rand(y.shape) + 0.5).bfloat16().to(y.dtype)
        made.append((y.detach(), taeda.autograd.grad(y, x, cotangent)[0]))
    assert made[0][0].dtype is dtype
    limits = taeda.finfo(dtype)
    for found, wanted in zip(*made, strict=True):
        rounded = wanted.to(dtype).double()  # what leaves the type is infinite in both
        atol = (
            4 * limits.eps * min(float(wanted.abs().max()), limits.max)
            + 2 * limits.tiny * limits.eps
        )
        taeda.testing.assert_close(found.double(), rounded, rtol=4 * limits.eps, atol=atol)
