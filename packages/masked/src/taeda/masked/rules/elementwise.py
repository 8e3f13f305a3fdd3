"""Functions of each element, of one tensor or of two: they compute on the data, and keep the mask."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.layouts import arguments_by_name, operator

from .._graph import built, data_of, is_masked, safe
from ._registry import in_place, one_mask, rule

#: of one tensor, in place too
UNARY = """
    abs acos acosh asin asinh atan atanh bitwise_not ceil clamp conj_physical cos cosh deg2rad digamma erf
    erfc erfinv exp exp2 expm1 floor frac i0 lgamma log log10 log1p log2 logit nan_to_num neg rad2deg
    reciprocal relu round round.decimals rsqrt sgn sigmoid sign sin sinc sinh sqrt square tan tanh trunc
    clamp_min clamp_max logical_not
""".split()
#: of one tensor, where the result has another dtype or is no other tensor
UNARY_MADE = "angle positive signbit isnan isinf isfinite isposinf isneginf".split()
#: of two, in place too
BINARY = """
    add.Tensor sub.Tensor mul.Tensor div.Tensor div.Tensor_mode floor_divide fmod.Tensor remainder.Tensor
    pow.Tensor_Tensor atan2 nextafter bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor
    bitwise_left_shift.Tensor bitwise_right_shift.Tensor eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor
    ge.Tensor
""".split()
BINARY_MADE = """
    rsub.Tensor logaddexp logaddexp2 maximum minimum fmax fmin max.other min.other logical_and logical_or
    logical_xor hypot copysign.Tensor xlogy.Tensor __and__ __or__ __xor__ __lshift__ __rshift__
""".split()


#: what is computed of 0.5 by nearly every function, and here of this
_ELSEWHERE = {"acosh": 2.0}


def _plain(x: Any, row: str) -> Any:
    return safe(x, _ELSEWHERE.get(row, 0.5)) if is_masked(x) else x


def _register(row: str) -> None:
    function = operator(row)

    @rule(row)
    def run(*args: Any) -> Tensor:
        mask = one_mask(*args)
        made: Tensor = function(**arguments_by_name(row, [_plain(x, row) for x in args]))
        return built(made, mask.expand(made.shape))


for _row in (*UNARY, *UNARY_MADE, *BINARY, *BINARY_MADE):
    _register(_row)
in_place(*UNARY, *BINARY)


@rule("equal")
def equal(self: Tensor, other: Tensor) -> bool:
    """Is what counts the same? Masks have to agree."""
    if self.shape != other.shape:
        return False
    mask = one_mask(self, other)
    kept = [(data_of(x) if is_masked(x) else x)[mask] for x in (self, other)]
    return bool(taeda.equal(*kept))
