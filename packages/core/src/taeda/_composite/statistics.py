"""Covariance and histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda._layers.asked import all_hold, are_known
from taeda._warnings import warn

from .._short_floats import rounded_once

__all__ = ["corrcoef", "cov", "even_edges", "grid_counts", "histogram_bin_ct",
    "histogram_bins_tensor"]  # fmt: skip


# ---- covariance ----


def _check_weights(name: str, w: Tensor | None, count: int, kind: str, right_kind: bool) -> None:
    if w is None:
        return
    if w.dim() > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {w.dim()} dimensions"
        )
    if not right_kind:
        raise RuntimeError(
            f"cov(): expected {name} to have {kind} dtype but got {name} with {w.dtype} dtype"
        )
    if w.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{w.numel()} != {count}"
        )
    says = f"cov(): {name} cannot be negative"
    if not all_hold(w >= 0, says):
        raise RuntimeError(says)


def _weights(count: int, fweights: Tensor | None, aweights: Tensor | None) -> Tensor | None:
    whole = fweights is None or not (
        fweights.is_floating_point() or fweights.is_complex() or fweights.dtype is taeda.bool
    )
    _check_weights("fweights", fweights, count, "integral", whole)
    _check_weights(
        "aweights",
        aweights,
        count,
        "floating point",
        aweights is None or aweights.is_floating_point(),
    )
    if fweights is None:
        return aweights
    return fweights if aweights is None else fweights * aweights


def cov(self: Tensor, correction: int, fweights: Tensor | None, aweights: Tensor | None) -> Tensor:
    """A matrix, or one number for a single row; divided by the observations less `correction`."""
    if self.dim() > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{self.dim()} dimensions"
        )
    if self.dtype is taeda.bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = self.reshape(1, -1) if self.dim() < 2 else self
    count = rows.size(1)
    w = _weights(count, fweights, aweights)
    if w is None:
        return _unweighted(rows, count, correction)
    total = w.sum()
    says = "cov(): weights sum to zero, can't be normalized"
    if not all_hold(total != 0, says):
        raise RuntimeError(says)
    centred = rows - ((rows * w).sum(1) / total).unsqueeze(1)
    freedom = total - correction
    if aweights is not None and correction != 0:
        freedom = total - correction * (w * aweights).sum() / total
    if are_known() and not freedom.is_meta and bool(freedom <= 0):
        warn(_NO_FREEDOM)
    freedom = freedom.clamp_min(0)
    return (taeda.mm(centred, (centred * w).t().conj()) / freedom).squeeze()


def _unweighted(rows: Tensor, count: int, correction: int) -> Tensor:
    """The same without weights, where the degrees of freedom are a number and no value is read."""
    centred = rows - (rows.sum(1) / count).unsqueeze(1)
    if count <= correction:
        warn(_NO_FREEDOM)
    return (taeda.mm(centred, centred.t().conj()) / max(count - correction, 0)).squeeze()


_NO_FREEDOM = (
    "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
    "observations."
)


@rounded_once
def corrcoef(self: Tensor) -> Tensor:
    """Covariances over the deviations, limited to [-1, 1]."""
    if self.dim() > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{self.dim()} dimensions"
        )
    c = taeda.cov(self)
    if c.dim() == 0:
        return c / c
    deviation = c.diag()
    deviation = (deviation.real if c.is_complex() else deviation).sqrt()
    c = c / deviation.unsqueeze(1) / deviation.unsqueeze(0)
    if c.is_complex():
        return taeda.complex(c.real.clamp(-1, 1), c.imag.clamp(-1, 1))
    return c.clamp(-1, 1)


# ---- histograms ----


def even_edges(name: str, x: Tensor, bins: int, range: Sequence[float] | None) -> Tensor:
    """bins + 1 edges from the smallest to the largest element, or of a given range."""
    if bins <= 0:
        raise RuntimeError(f"{name}: bins must be > 0, but got {bins}")
    if range is not None:
        if len(range) != 2:
            raise RuntimeError(
                f"{name}: range should have 2 numbers for a dimension, but got {len(range)}"
            )
        low, high = range
        if low > high:
            raise RuntimeError(
                f"{name}: min should not exceed max, but got min {low} max {high} for a dimension"
            )
    elif x.numel():
        low, high = (edge.item() for edge in taeda.aminmax(x))
    else:
        low, high = 0.0, 1.0
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{name}: range [{low}, {high}] is not finite")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return taeda.linspace(low, high, bins + 1, dtype=x.dtype, device=x.device)


def grid_counts(
    name: str,
    points: Tensor,
    edges: Sequence[Tensor],
    weight: Tensor | None,
    density: bool,
    ascending: bool = False,
) -> Tensor:
    """Sums of weights in the cells of a grid; with `density` over the total and the volumes.
    `ascending` edges are known to be so.
    """
    if not points.is_floating_point():
        raise NotImplementedError(f"{name} is not implemented for {points.dtype}")
    for t in (*edges, *([] if weight is None else [weight])):
        if t.dtype != points.dtype:
            raise RuntimeError(
                f"{name}: input tensor and bins or weight should have the same dtype, but got "
                f"{points.dtype} and {t.dtype}"
            )
    for e in edges:
        if e.dim() != 1 or e.numel() < 1:
            raise RuntimeError(
                f"{name}: bins tensor should have one dimension, but got shape {list(e.shape)}"
            )
        if e.numel() < 2:
            raise RuntimeError(
                f"{name}: bins tensor should have at least 2 edges, but got {e.numel()}"
            )
        if not (ascending or e.is_meta) and bool((e.diff() < 0).any()):
            raise RuntimeError(f"{name}: bins tensor should be in ascending order")
    hist = taeda._histogramdd(points, list(edges), weight)
    if not density:
        return hist
    return _dense(hist, *edges)


@rounded_once
def _dense(hist: Tensor, *edges: Tensor) -> Tensor:
    hist = hist / hist.sum()
    for d, e in enumerate(edges):
        hist = hist / e.diff().reshape([-1 if i == d else 1 for i in range(len(edges))])
    return hist


def _one(
    self: Tensor, edges: Tensor, weight: Tensor | None, density: bool, ascending: bool = False
) -> tuple[Tensor, Tensor]:
    if weight is not None and weight.shape != self.shape:
        raise RuntimeError(
            "histogram(): if weight tensor is provided it should have the same shape as the input "
            "tensor, but got "
            f"{list(weight.shape)} and {list(self.shape)}"
        )
    flat = None if weight is None else weight.reshape(-1)
    counts = grid_counts("histogram()", self.reshape(-1, 1), [edges], flat, density, ascending)
    return counts, edges


def histogram_bins_tensor(
    self: Tensor, bins: Tensor, weight: Tensor | None, density: bool
) -> tuple[Tensor, Tensor]:
    """Edges as given; the caller's tensor stays the caller's."""
    hist, edges = _one(self, bins, weight, density)
    return hist, edges.clone()


def histogram_bin_ct(
    self: Tensor, bins: int, range: Sequence[float] | None, weight: Tensor | None, density: bool
) -> tuple[Tensor, Tensor]:
    """Edges at equal distances."""
    return _one(self, even_edges("histogram()", self, bins, range), weight, density, ascending=True)
