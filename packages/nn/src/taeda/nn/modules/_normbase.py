"""What batch and instance normalisation share: affine parameters and running statistics."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from .. import init
from ..parameter import Parameter, UninitializedBuffer, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module

__all__ = ["_LazyNormBase", "_NormBase", "check_rank"]


class _NormBase(Module):
    """Parameters `weight` and `bias`, buffers `running_mean`, `running_var` and `num_batches_tracked`."""

    _version = 2
    weight: Tensor | None
    bias: Tensor | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats

        def vector(wanted: bool) -> Parameter | None:
            return (
                Parameter(taeda.empty(num_features, device=device, dtype=dtype)) if wanted else None
            )

        self.register_parameter("weight", vector(affine))
        self.register_parameter("bias", vector(affine and bias))
        track = track_running_stats
        self.register_buffer(
            "running_mean", taeda.zeros(num_features, device=device, dtype=dtype) if track else None
        )
        self.register_buffer(
            "running_var", taeda.ones(num_features, device=device, dtype=dtype) if track else None
        )
        count = taeda.tensor(0, dtype=taeda.int64, device=device) if track else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Set the running mean to 0, the variance to 1, the count to 0."""
        if self.track_running_stats:
            self.running_mean.zero_()  # type: ignore[union-attr]  # tracked, so there is one
            self.running_var.fill_(1)  # type: ignore[union-attr]
            self.num_batches_tracked.zero_()  # type: ignore[union-attr]

    def reset_parameters(self) -> None:
        """Reset the statistics, the weight to 1, the bias to 0."""
        self.reset_running_stats()
        if self.affine and self.weight is not None:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not say which inputs it takes")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
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
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            count = self.num_batches_tracked  # version 1 did not count
            kept = count is not None and not count.is_meta
            state_dict[key] = count if kept else taeda.tensor(0, dtype=taeda.int64)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


def check_rank(input: Tensor, *ranks: int) -> None:
    """Raises ValueError for an input of another rank."""
    if input.dim() not in ranks:
        wanted = " or ".join(f"{rank}D" for rank in ranks)
        raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")


class _LazyNormBase(LazyModuleMixin):
    """Takes `num_features` from the first input's channels."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype)
        self.affine = affine
        self.track_running_stats = track_running_stats
        made = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**made)
            if bias:
                self.bias = UninitializedParameter(**made)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**made)
            self.running_var = UninitializedBuffer(**made)
            self.num_batches_tracked = taeda.tensor(0, dtype=taeda.int64, device=device)

    def reset_parameters(self) -> None:
        """Reset what there is, once it has a shape."""
        module: Any = self
        if not self.has_uninitialized_params() and module.num_features != 0:
            super().reset_parameters()  # type: ignore[misc]  # of the layer it is mixed into

    def initialize_parameters(self, input: Tensor) -> None:
        """Take `num_features` from dimension 1 of the input."""
        module: Any = self
        if module.num_features == 0:
            module.num_features = input.shape[1]
        if not self.has_uninitialized_params():  # a state dict was loaded
            return
        for tensor in (module.weight, module.bias, module.running_mean, module.running_var):
            if tensor is not None:
                tensor.materialize((module.num_features,))
        self.reset_parameters()
