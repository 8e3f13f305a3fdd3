"""What autocast does on CUDA devices, by the names of rows; on the cpu a row's own column says it.

Products and convolutions run in the lower type; what adds many numbers, or leaves a 16-bit range
easily, in float32; joins in the widest type of their arguments.
"""

from __future__ import annotations

from .._native import core as _core

__all__ = ["install"]

LOWER = """
_convolution _rnn_tanh_cell addbmm addmm addmv addr baddbmm bmm chain_matmul conv1d conv2d conv3d
conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution linalg_multi_dot
linalg_vecdot linear lstm_cell gru_cell matmul mm mv multi_dot prelu rnn_relu_cell rnn_tanh_cell
scaled_dot_product_attention vecdot
""".split()
FLOAT32 = """
__pow__ __rpow__ acos asin binary_cross_entropy binary_cross_entropy_with_logits cdist cosh
cosine_embedding_loss cosine_similarity cross_entropy cross_entropy_loss cross_entropy_forward
ctc_loss cumprod cumsum dist erfinv exp expm1 frobenius_norm gaussian_nll_loss group_norm
hinge_embedding_loss huber_loss kl_div l1_loss layer_norm log log10 log1p log2 log_softmax
logsumexp margin_ranking_loss matrix_norm mse_loss multi_margin_loss multilabel_margin_loss
native_layer_norm nll_loss nll_loss2d nll_loss_forward norm nuclear_norm pdist poisson_nll_loss pow
prod reciprocal renorm rsqrt sinh smooth_l1_loss soft_margin_loss softmax softmin softplus
special_softmax sum tan triplet_margin_loss upsample_nearest1d vector_norm
""".split()
PROMOTE = """
addcdiv addcmul atan2 bilinear cat concat concatenate cross dot grid_sampler index_put scatter_add
stack tensordot
""".split()
