"""Rows that never raise because of the values that they are given: a graph may leave them out where
nobody reads what they make. All others stay in it, and so does a row that is not known here.
"""

from __future__ import annotations

import functools

from taeda._core_api import programs as _core

__all__ = ["may_raise"]

_MADE = """
empty empty_strided empty_permuted zeros ones full scalar_tensor empty_like zeros_like ones_like
full_like new_empty new_empty_strided new_zeros new_ones new_full arange range linspace logspace eye
tril_indices triu_indices rand randn randint randperm rand_like randn_like randint_like uniform_
normal_ log_normal_ exponential_ cauchy_ geometric_ random_ native_dropout native_dropout_backward
"""
_MOVED = """
tril triu diag_embed fill fill_ zero_ copy_ complex cat stack where masked_fill
select_scatter slice_scatter diagonal_scatter as_strided_scatter select_backward slice_backward
diagonal_backward unfold_backward as_strided_backward constant_pad_nd im2col col2im pixel_shuffle
pixel_unshuffle as_strided view view_as reshape reshape_as flatten unflatten ravel expand expand_as
broadcast_to permute transpose swapaxes swapdims t movedim squeeze unsqueeze adjoint transpose_
swapaxes_ swapdims_ t_ squeeze_ unsqueeze_ as_strided_ select slice narrow diagonal unfold unbind
split split_with_sizes chunk hsplit vsplit dsplit real imag view_as_real view_as_complex conj _conj
_neg_view resolve_conj resolve_neg numpy_T mT matrix_H mH alias detach contiguous clone _to_copy flip
roll repeat tile
"""
_SUMMED = """
sum mean prod nansum logsumexp any all count_nonzero max min amax amin aminmax argmax argmin var std
var_mean std_mean vector_norm median nanmedian mode kthvalue cumsum cumprod logcumsumexp cummax cummin
softmax log_softmax _softmax _log_softmax _softmax_backward_data _log_softmax_backward_data sort topk
mm bmm mv dot matmul _int_mm linear addmm addmv baddbmm _global_norm _flat_norms _fft_c2c _fft_r2c
_fft_c2r _row_distances _row_distances_backward cross
"""
_LAYERS = """
_fused_attention _fused_attention_backward _ragged_attention _ragged_attention_backward convolution
convolution_backward mse_loss
mse_loss_backward _l1_loss _l1_loss_backward smooth_l1_loss smooth_l1_loss_backward huber_loss
huber_loss_backward soft_margin_loss soft_margin_loss_backward _binary_cross_entropy_with_logits
_binary_cross_entropy_with_logits_backward native_layer_norm native_layer_norm_backward
_fused_rms_norm _fused_rms_norm_backward _batch_norm native_batch_norm_backward native_group_norm
native_group_norm_backward _fused_sgd_ _fused_adam_ _fused_adamw_ _fused_adagrad_ max_pool1d
max_pool1d_with_indices avg_pool1d avg_pool1d_backward adaptive_avg_pool1d
adaptive_avg_pool1d_backward adaptive_max_pool1d max_pool2d max_pool2d_with_indices avg_pool2d
avg_pool2d_backward adaptive_avg_pool2d adaptive_avg_pool2d_backward adaptive_max_pool2d max_pool3d
max_pool3d_with_indices avg_pool3d avg_pool3d_backward adaptive_avg_pool3d
adaptive_avg_pool3d_backward adaptive_max_pool3d _grid_sample _grid_sample_backward _lstm
_lstm_backward _gru _gru_backward _rnn _rnn_backward
"""
_TAKE_ALL = frozenset(f"{_MADE} {_MOVED} {_SUMMED} {_LAYERS}".split())
_UPSAMPLED = ("upsample_", "_upsample_")
#: one loop over elements each, which for integers divides, takes powers or shifts
_OF_INTEGERS = ("div", "floor_divide", "remainder", "fmod", "pow", "gcd", "lcm", "bitwise_", "__")
#: an index that is a tensor
_BY_TENSOR = ("narrow.Tensor",)


@functools.cache
def may_raise(op: str) -> bool:
    """Whether this row says no to some values, as far as anybody knows.

    >>> may_raise("index_select"), may_raise("mm"), may_raise("no_row")
    (True, False, True)
    """
    if op in _BY_TENSOR:
        return True
    if _kinds.get(op) == "pointwise":
        return op.startswith(_OF_INTEGERS)
    known = op.partition(".")[0] in _TAKE_ALL or op.startswith(_UPSAMPLED)
    return not known or _kinds.get(op) != "c"


_kinds = {text: kind for text, _, kind, _, _, _ in _core.op_rows()}
