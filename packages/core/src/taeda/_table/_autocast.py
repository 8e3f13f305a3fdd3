"""Which operations autocast runs in which type on the cpu: the reference's lists, in the names of this table.

What is not listed takes the types it is given; a composite that is not listed hands them on to the operations it is written in.
"""

from __future__ import annotations

__all__ = ["FLOAT32", "LOWER", "PROMOTE", "autocast_class"]

LOWER, FLOAT32, PROMOTE = 1, 2, 3

# by namespace
_LOWER = {
    "": """mm bmm matmul addmm baddbmm addbmm prelu convolution conv1d conv2d conv3d conv_transpose1d conv_transpose2d
        conv_transpose3d""",
    "nn": "linear scaled_dot_product_attention",
    "linalg": "vecdot matmul",
}
_FLOAT32 = {
    "": """polar prod quantile nanquantile stft cdist trace view_as_complex cholesky cholesky_inverse cholesky_solve inverse
        lu_solve orgqr ormqr pinverse geqrf qr svd triangular_solve max_pool3d cosine_embedding_loss hinge_embedding_loss
        poisson_nll_loss margin_ranking_loss triplet_margin_loss kl_div binary_cross_entropy_with_logits""",
    "nn": """avg_pool3d adaptive_avg_pool3d adaptive_max_pool3d reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d
        replication_pad3d mse_loss nll_loss nll_loss_nd nll_loss2d cross_entropy_loss l1_loss _l1_loss smooth_l1_loss huber_loss soft_margin_loss
        multi_margin_loss multilabel_margin_loss binary_cross_entropy _binary_cross_entropy _binary_cross_entropy_with_logits
        _cross_entropy""",
    "linalg": """cond matrix_rank solve cholesky svdvals eigvals eigvalsh inv householder_product tensorinv tensorsolve qr cholesky_ex
        svd eig eigh lstsq inv_ex""",
    "fft": "fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft",
}
_PROMOTE = {"": "cat stack index_copy"}

_CLASSES = {
    (namespace, name): number
    for number, lists in ((LOWER, _LOWER), (FLOAT32, _FLOAT32), (PROMOTE, _PROMOTE))
    for namespace, names in lists.items()
    for name in names.split()
}


def autocast_class(namespace: str, name: str) -> int:
    """LOWER, FLOAT32, PROMOTE, or 0 for an operation that autocast leaves alone.

    >>> autocast_class("", "mm"), autocast_class("", "exp")
    (1, 0)
    """
    return _CLASSES.get((namespace, name), 0)
