"""vmap's rules: how a function of one sample is computed for all samples at once.
One file a family, as in `rules`.

    vmap(f)(x) ── Batched(x) ─▶ f ─▶ taeda.sum(Batched, 0) ─▶ `_call` ─┬▶ rule of `sum`: sum over 1
                                                                       └▶ no rule: one sample after
                                                                          another, one warning

What a rule computes with are plain tensors, so derivatives below and above a map come from autograd as ever.
"""

from __future__ import annotations

from taeda._core_api.calls import TRANSFORM, register_layer

from . import (
    conv,
    distance,
    fake_quantize,
    fft,
    indexing,
    linalg,
    loss,
    matmul,
    norm,
    pointwise,
    pooling,
    reduction,
    view,
)
from ._batched import (
    Batched,
    Level,
    batched,
    levels,
    on_levels,
    physical,
    refuse_captured,
    rewrapped,
    standing,
    taken_apart,
    unwrapped,
)
from ._call import NeedsValue, call, each_alone, each_sample, new_levels
from ._registry import Decline, rule, rules

__all__ = [
    "Batched",
    "Decline",
    "Level",
    "NeedsValue",
    "batched",
    "each_alone",
    "each_sample",
    "levels",
    "new_levels",
    "on_levels",
    "physical",
    "refuse_captured",
    "rewrapped",
    "rule",
    "rules",
    "standing",
    "taken_apart",
    "unwrapped",
]

register_layer(TRANSFORM, call)
