"""Instance normalisation: every channel of every sample by itself."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._core_api import warn

from .. import functional as F
from ._normbase import _LazyNormBase, _NormBase, check_rank

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _InstanceNorm(_NormBase):
    """Normalises by the sample, or in evaluation mode by running statistics, if they are tracked."""

    _taeda_spatial: int

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _check_input_dim(self, input: Tensor) -> None:
        check_rank(input, self._taeda_spatial + 1, self._taeda_spatial + 2)

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *) or (C, *), unchanged. Raises ValueError for another rank or number of channels."""
        self._check_input_dim(input)
        channels = input.dim() - self._taeda_spatial - 1
        if input.size(channels) != self.num_features:
            self._taeda_refuse_channels(channels, input.size(channels))
        if channels == 0:
            return self._taeda_normalise(input.unsqueeze(0)).squeeze(0)
        return self._taeda_normalise(input)

    def _taeda_refuse_channels(self, dim: int, size: int) -> None:
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={dim} to match num_features ({self.num_features}), "
                f"but got: {size}."
            )
        warn(
            f"input's size at dim={dim} does not match num_features. You can silence this warning by not "
            "passing in num_features, which is not used because affine=False",
        )

    def _taeda_normalise(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        version = local_metadata.get("version")
        if version is None and not self.track_running_stats:  # statistics were always tracked once
            names = ("running_mean", "running_var")
            found = [prefix + name for name in names if prefix + name in state_dict]
            if found:
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {', '.join(map(repr, found))} for "
                    f"{type(self).__name__} "
                    "with track_running_stats=False. Remove them from the checkpoint, or set "
                    "track_running_stats=True to use them in evaluation mode."
                )
                for key in found:
                    state_dict.pop(key)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (N, C, L) or (C, L).

    Args:
        num_features: number of channels C of the input.
        eps: added to the variance before the root is taken (1e-5).
        momentum: weight of a new batch in the running statistics (0.1): running = (1 - momentum) ·
            running + momentum · batch; None takes the plain average of all batches.
        affine: whether each channel gets a trained factor and offset (False).
        track_running_stats: whether running means and variances are kept and used in evaluation
            (False).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).
        bias: whether there is an offset where `affine` holds (True).

    y = (x - mean) / sqrt(var + eps) · weight + bias; mean and (biased) variance are those of each
    channel of each sample.

    Shape:
        input and output: (N, C, L) or (C, L).

    Ulyanov and others (arXiv:1607.08022). The same as a function: `nn.functional.instance_norm`.

    >>> InstanceNorm1d(3)(taeda.zeros(2, 3, 4)).shape
    taeda.Size([2, 3, 4])
    """

    _taeda_spatial = 1


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (N, C, H, W) or (C, H, W).

    Args:
        num_features: number of channels C of the input.
        eps: added to the variance before the root is taken (1e-5).
        momentum: weight of a new batch in the running statistics (0.1): running = (1 - momentum) ·
            running + momentum · batch; None takes the plain average of all batches.
        affine: whether each channel gets a trained factor and offset (False).
        track_running_stats: whether running means and variances are kept and used in evaluation
            (False).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).
        bias: whether there is an offset where `affine` holds (True).

    y = (x - mean) / sqrt(var + eps) · weight + bias; mean and (biased) variance are those of each
    channel of each sample.

    Shape:
        input and output: (N, C, H, W) or (C, H, W).

    Ulyanov and others (arXiv:1607.08022). The same as a function: `nn.functional.instance_norm`.

    >>> InstanceNorm2d(3)(taeda.zeros(2, 3, 4, 4)).shape
    taeda.Size([2, 3, 4, 4])
    """

    _taeda_spatial = 2


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (N, C, D, H, W) or (C, D, H, W).

    Args:
        num_features: number of channels C of the input.
        eps: added to the variance before the root is taken (1e-5).
        momentum: weight of a new batch in the running statistics (0.1): running = (1 - momentum) ·
            running + momentum · batch; None takes the plain average of all batches.
        affine: whether each channel gets a trained factor and offset (False).
        track_running_stats: whether running means and variances are kept and used in evaluation
            (False).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).
        bias: whether there is an offset where `affine` holds (True).

    y = (x - mean) / sqrt(var + eps) · weight + bias; mean and (biased) variance are those of each
    channel of each sample.

    Shape:
        input and output: (N, C, D, H, W) or (C, D, H, W).

    Ulyanov and others (arXiv:1607.08022). The same as a function: `nn.functional.instance_norm`.

    >>> InstanceNorm3d(3)(taeda.zeros(2, 3, 2, 4, 4)).shape
    taeda.Size([2, 3, 2, 4, 4])
    """

    _taeda_spatial = 3


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):  # type: ignore[misc]
    """An InstanceNorm1d that takes `num_features` from its first input.

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
        input and output: (N, C, L) or (C, L).

    The same as a function: `nn.functional.instance_norm`.

    >>> layer = LazyInstanceNorm1d()
    >>> _ = layer(taeda.zeros(2, 3, 4))
    >>> layer.num_features
    3
    """

    cls_to_become = InstanceNorm1d
    _taeda_spatial = 1


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):  # type: ignore[misc]
    """An InstanceNorm2d that takes `num_features` from its first input.

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
        input and output: (N, C, H, W) or (C, H, W).

    The same as a function: `nn.functional.instance_norm`.

    >>> layer = LazyInstanceNorm2d()
    >>> _ = layer(taeda.zeros(2, 3, 4, 4))
    >>> layer.num_features
    3
    """

    cls_to_become = InstanceNorm2d
    _taeda_spatial = 2


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):  # type: ignore[misc]
    """An InstanceNorm3d that takes `num_features` from its first input.

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
        input and output: (N, C, D, H, W) or (C, D, H, W).

    The same as a function: `nn.functional.instance_norm`.

    >>> layer = LazyInstanceNorm3d()
    >>> _ = layer(taeda.zeros(2, 3, 2, 4, 4))
    >>> layer.num_features
    3
    """

    cls_to_become = InstanceNorm3d
    _taeda_spatial = 3
