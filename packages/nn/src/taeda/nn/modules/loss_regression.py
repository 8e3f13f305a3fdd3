"""Losses between values, as modules."""

from __future__ import annotations

from taeda import Tensor

from .. import functional as F
from ._loss_base import _Loss

__all__ = [
    "GaussianNLLLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "PoissonNLLLoss",
    "SmoothL1Loss",
]


class L1Loss(_Loss):
    """|x - target|.

    Args:
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.

    Shape:
        input and target: (*), equal shapes.
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.l1_loss`.

    >>> L1Loss()(taeda.tensor([1.0, 3.0]), taeda.tensor([1.0, 1.0]))
    tensor(1.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Equal shapes, to () or, unreduced, that shape."""
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """(x - target)².

    Args:
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.

    Shape:
        input and target: (*), equal shapes.
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.mse_loss`.

    >>> MSELoss()(taeda.tensor([1.0, 3.0]), taeda.tensor([1.0, 1.0]))
    tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Equal shapes, to () or, unreduced, that shape."""
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Half the square over beta where |x - target| < beta, else the distance less beta / 2.

    Args:
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.
        beta: distance at which the square ends, at least 0 (1).

    Shape:
        input and target: (*), equal shapes.
        output: (), or with "none" the shape of the losses.

    Girshick (arXiv:1504.08083). The same as a function: `nn.functional.smooth_l1_loss`.

    >>> SmoothL1Loss()(taeda.tensor([1.0, 3.0]), taeda.tensor([1.0, 1.0]))
    tensor(0.7500)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Equal shapes, to () or, unreduced, that shape."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Half the square where |x - target| < delta, else delta times the distance less delta / 2.

    Args:
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.
        delta: distance at which the square ends, above 0 (1).

    Shape:
        input and target: (*), equal shapes.
        output: (), or with "none" the shape of the losses.

    Huber (1964). The same as a function: `nn.functional.huber_loss`.

    >>> HuberLoss()(taeda.tensor([1.0, 3.0]), taeda.tensor([1.0, 1.0]))
    tensor(0.7500)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Equal shapes, to () or, unreduced, that shape."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class KLDivLoss(_Loss):
    """target · (log target - x) of log-probabilities x; "batchmean" divides by the batch alone.

    Args:
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each, "batchmean" divides the sum by the size of dimension 0.
        log_target: whether targets are log-probabilities too (False).

    Shape:
        input and target: (*), equal shapes.
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.kl_div`.

    >>> KLDivLoss(reduction="sum")(taeda.zeros(2), taeda.ones(2))
    tensor(0.)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Equal shapes, to () or, unreduced, that shape."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(_Loss):
    """exp(x) - target · x, or without `log_input` x - target · log(x + eps).

    Args:
        log_input: whether the input is the logarithm of the rate (True).
        full: whether Stirling's approximation of log(target!) is added for targets above 1 (False).
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        eps: added to the rate before the logarithm, without `log_input` (1e-8).
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.

    Shape:
        input and target: (*), equal shapes.
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.poisson_nll_loss`.

    >>> PoissonNLLLoss()(taeda.zeros(2), taeda.ones(2))
    tensor(1.)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """Equal shapes, to () or, unreduced, that shape."""
        return F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(_Loss):
    """(log var + (x - target)² / var) / 2.

    Args:
        full: whether the constant log(2 pi) / 2 is added (False).
        eps: least variance (1e-6).
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.

    Shape:
        input and target: (*); var: (*), or with a last dimension of 1 or none.
        output: (), or with "none" the shape of the losses.

    Nix and Weigend (1994). The same as a function: `nn.functional.gaussian_nll_loss`.

    >>> GaussianNLLLoss()(taeda.zeros(2), taeda.ones(2), taeda.ones(2))
    tensor(0.5000)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(None, None, reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """Equal shapes; the variance may lack the last dimension."""
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )
