"""Batch normalisation: every channel over the batch and all places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

from .. import functional as F
from ._normbase import _LazyNormBase, _NormBase, check_rank
from .module import Module

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
]


class _BatchNorm(_NormBase):
    """Normalises by the batch in training, and by the running statistics, if there are any, else.

    The running variance is the unbiased one; `momentum=None` averages all batches alike.
    """

    def forward(self, input: Tensor) -> Tensor:
        """The same shape. Raises ValueError for another rank, or one value per channel in training."""
        self._check_input_dim(input)
        mean, var = self.running_mean, self.running_var
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training:
            if self.track_running_stats and self.num_batches_tracked is not None:
                self.num_batches_tracked.add_(1)
                if self.momentum is None:
                    factor = 1.0 / float(self.num_batches_tracked)
            if not self.track_running_stats:
                mean = var = None
        by_batch = self.training or (mean is None and var is None)
        return F.batch_norm(input, mean, var, self.weight, self.bias, by_batch, factor, self.eps)


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L).

    Args:
        num_features: number of channels C, the size of dimension 1 of the input.
        eps: added to the variance before the root is taken (1e-5).
        momentum: weight of a new batch in the running statistics (0.1): running = (1 - momentum) ·
            running + momentum · batch; None takes the plain average of all batches.
        affine: whether each channel gets a trained factor and offset (True).
        track_running_stats: whether running means and variances are kept and used in evaluation
            (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).
        bias: whether there is an offset where `affine` holds (True).

    y = (x - mean) / sqrt(var + eps) · weight + bias; mean and (biased) variance are those of each
    channel over the batch.

    Shape:
        input and output: (N, C) or (N, C, L).

    Ioffe and Szegedy (arXiv:1502.03167). The same as a function: `nn.functional.batch_norm`.

    >>> BatchNorm1d(3)(taeda.zeros(2, 3, 4)).shape
    taeda.Size([2, 3, 4])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        check_rank(input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W).

    Args:
        num_features: number of channels C, the size of dimension 1 of the input.
        eps: added to the variance before the root is taken (1e-5).
        momentum: weight of a new batch in the running statistics (0.1): running = (1 - momentum) ·
            running + momentum · batch; None takes the plain average of all batches.
        affine: whether each channel gets a trained factor and offset (True).
        track_running_stats: whether running means and variances are kept and used in evaluation
            (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).
        bias: whether there is an offset where `affine` holds (True).

    y = (x - mean) / sqrt(var + eps) · weight + bias; mean and (biased) variance are those of each
    channel over the batch.

    Shape:
        input and output: (N, C, H, W).

    Ioffe and Szegedy (arXiv:1502.03167). The same as a function: `nn.functional.batch_norm`.

    >>> BatchNorm2d(3)(taeda.randn(2, 3, 4, 4)).mean().abs() < 1e-6
    tensor(True)
    """

    def _check_input_dim(self, input: Tensor) -> None:
        check_rank(input, 4)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W).

    Args:
        num_features: number of channels C, the size of dimension 1 of the input.
        eps: added to the variance before the root is taken (1e-5).
        momentum: weight of a new batch in the running statistics (0.1): running = (1 - momentum) ·
            running + momentum · batch; None takes the plain average of all batches.
        affine: whether each channel gets a trained factor and offset (True).
        track_running_stats: whether running means and variances are kept and used in evaluation
            (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).
        bias: whether there is an offset where `affine` holds (True).

    y = (x - mean) / sqrt(var + eps) · weight + bias; mean and (biased) variance are those of each
    channel over the batch.

    Shape:
        input and output: (N, C, D, H, W).

    Ioffe and Szegedy (arXiv:1502.03167). The same as a function: `nn.functional.batch_norm`.

    >>> BatchNorm3d(3)(taeda.zeros(2, 3, 2, 4, 4)).shape
    taeda.Size([2, 3, 2, 4, 4])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        check_rank(input, 5)


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):  # type: ignore[misc]
    """A BatchNorm1d that takes `num_features` from its first input.

    Args:
        eps: added to the variance before the root is taken (1e-5).
        momentum: weight of a new batch in the running statistics (0.1): running = (1 - momentum) ·
            running + momentum · batch; None takes the plain average of all batches.
        affine: whether each channel gets a trained factor and offset (True).
        track_running_stats: whether running means and variances are kept and used in evaluation
            (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).
        bias: whether there is an offset where `affine` holds (True).

    Shape:
        input and output: (N, C) or (N, C, L).

    The same as a function: `nn.functional.batch_norm`.

    >>> layer = LazyBatchNorm1d()
    >>> _ = layer(taeda.zeros(2, 3, 4))
    >>> layer.num_features
    3
    """

    cls_to_become = BatchNorm1d

    def _check_input_dim(self, input: Tensor) -> None:
        check_rank(input, 2, 3)


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):  # type: ignore[misc]
    """A BatchNorm2d that takes `num_features` from its first input.

    Args:
        eps: added to the variance before the root is taken (1e-5).
        momentum: weight of a new batch in the running statistics (0.1): running = (1 - momentum) ·
            running + momentum · batch; None takes the plain average of all batches.
        affine: whether each channel gets a trained factor and offset (True).
        track_running_stats: whether running means and variances are kept and used in evaluation
            (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).
        bias: whether there is an offset where `affine` holds (True).

    Shape:
        input and output: (N, C, H, W).

    The same as a function: `nn.functional.batch_norm`.

    >>> layer = LazyBatchNorm2d()
    >>> _ = layer(taeda.zeros(2, 3, 4, 4))
    >>> layer.num_features
    3
    """

    cls_to_become = BatchNorm2d

    def _check_input_dim(self, input: Tensor) -> None:
        check_rank(input, 4)


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):  # type: ignore[misc]
    """A BatchNorm3d that takes `num_features` from its first input.

    Args:
        eps: added to the variance before the root is taken (1e-5).
        momentum: weight of a new batch in the running statistics (0.1): running = (1 - momentum) ·
            running + momentum · batch; None takes the plain average of all batches.
        affine: whether each channel gets a trained factor and offset (True).
        track_running_stats: whether running means and variances are kept and used in evaluation
            (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).
        bias: whether there is an offset where `affine` holds (True).

    Shape:
        input and output: (N, C, D, H, W).

    The same as a function: `nn.functional.batch_norm`.

    >>> layer = LazyBatchNorm3d()
    >>> _ = layer(taeda.zeros(2, 3, 2, 4, 4))
    >>> layer.num_features
    3
    """

    cls_to_become = BatchNorm3d

    def _check_input_dim(self, input: Tensor) -> None:
        check_rank(input, 5)


# What normalises over the processes of a group: taeda-distributed puts it here when a group is
# made. None for one process alone.
synchronize: Callable[[SyncBatchNorm, Tensor], Tensor | None] | None = None


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of all processes of a group, by default of all there are.

    In evaluation, and in one process alone, it is BatchNorm. All processes of the group call it,
    and run its backward.

    Args:
        num_features: number of channels C, the size of dimension 1 of the input.
        eps: added to the variance before the root is taken (1e-5).
        momentum: weight of a new batch in the running statistics (0.1): running = (1 - momentum) ·
            running + momentum · batch; None takes the plain average of all batches.
        affine: whether each channel gets a trained factor and offset (True).
        track_running_stats: whether running means and variances are kept and used in evaluation
            (True).
        process_group: the processes that share their statistics (None: all).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).
        bias: whether there is an offset where `affine` holds (True).

    Shape:
        input and output: (N, C, *).

    The same as a function: `nn.functional.batch_norm`.

    >>> SyncBatchNorm(3)(taeda.zeros(2, 3, 4)).shape
    taeda.Size([2, 3, 4])
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """The same shape, (N, C, ...)."""
        if self.training and synchronize is not None:
            self._check_input_dim(input)
            if (output := synchronize(self, input)) is not None:
                return output
        return super().forward(input)

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Any:
        """The module with every batch normalisation in it replaced; parameters and buffers stay the same."""
        replaced = module
        if isinstance(module, _BatchNorm):
            replaced = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            with taeda.no_grad():
                replaced.weight, replaced.bias = module.weight, module.bias
            replaced.running_mean, replaced.running_var = module.running_mean, module.running_var
            replaced.num_batches_tracked = module.num_batches_tracked
            replaced.training = module.training
        for name, child in module.named_children():
            replaced.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return replaced
