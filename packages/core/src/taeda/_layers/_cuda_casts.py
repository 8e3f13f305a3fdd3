"""What autocast does on CUDA devices, by the names of rows; on the cpu a row's own column says it.

Products and convolutions run in the lower type; what adds many numbers, or leaves a 16-bit range
easily, in float32; joins in the widest type of their arguments.
"""

from __future__ import annotations

from .._native import core as _core

__all__ = ["install"]

LOWER = """
addbmm addmm addmv addr baddbmm bmm chain_matmul conv1d conv2d conv3d conv_transpose1d
conv_transpose2d conv_transpose3d convolution linear matmul mm multi_dot mv prelu
scaled_dot_product_attention vecdot
""".split()
FLOAT32 = """
acos asin binary_cross_entropy binary_cross_entropy_with_logits cdist cosh cosine_embedding_loss
cross_entropy_loss cumprod cumsum dist erfinv exp expm1 frobenius_norm group_norm
hinge_embedding_loss huber_loss kl_div l1_loss layer_norm log log10 log1p log2 log_softmax logsumexp
margin_ranking_loss matrix_norm mse_loss multi_margin_loss multilabel_margin_loss native_layer_norm
nll_loss nll_loss2d nll_loss_forward nll_loss_nd norm nuclear_norm poisson_nll_loss pow prod
reciprocal renorm rms_norm rsqrt sinh smooth_l1_loss soft_margin_loss softmax softplus sum tan
triplet_margin_loss vector_norm
upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d
_upsample_nearest_exact2d _upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d
_upsample_bilinear2d_aa upsample_trilinear3d upsample_bicubic2d _upsample_bicubic2d_aa
""".split()
PROMOTE = "addcdiv addcmul atan2 bilinear cat cross dot index_put scatter_add stack tensordot vdot".split()


def install() -> None:
    """Write the lists into the table. RuntimeError for a name that no row has."""
    for names, kind in ((LOWER, "LOWER"), (FLOAT32, "FLOAT32"), (PROMOTE, "PROMOTE")):
        for name in names:
            if not _core.set_cuda_cast(name, _core.casts[kind]):
                raise RuntimeError(f"autocast on cuda: the table has no row '{name}'")
