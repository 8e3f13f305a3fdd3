"""Calls of rows whose arguments are tensors of one shape: written from the schema, and from where
the function is defined.
"""

from __future__ import annotations

from taeda._table._row import Row
from taeda._table._schema import Argument

__all__ = ["plain"]

# which numbers an argument takes: u lies in (0.1, 0.9), p in (0.5, 3)
_WITHIN = dict.fromkeys("acos asin atanh erfinv ndtri logit log_ndtr".split(), "u({})")
_POSITIVE = (
    "digamma entr igamma igammac lgamma log log10 log1p log2 reciprocal rsqrt sqrt xlog1py xlogy "
    "zeta _standard_gamma_grad"
)
_WITHIN |= dict.fromkeys(_POSITIVE.split(), "p({})")
_WITHIN |= {"acosh": "p({}) + 1", "float_power": "p({})", "zeta": "p({}) + 1"}
_DIVISORS = "div floor_divide remainder fmod".split()


def plain(row: Row) -> str:
    """The arguments as text; ValueError where the schema does not say enough."""
    name = row.schema.name.removeprefix("_foreach_").removesuffix("_")
    text = _WITHIN.get(name, "x({})")
    words = []
    for argument in row.schema.arguments:
        if argument.has_default:
            break
        divides = name in _DIVISORS and words
        words.append(_word(row, argument, "p({})" if divides else text))
    return ", ".join(words)


def _word(row: Row, argument: Argument, text: str) -> str:
    if argument.is_tensor and argument.is_list:
        return f"[{text.format('m, n')}, {text.format('k')}]"
    if argument.is_tensor:
        single = row.schema.name.startswith("_foreach_")
        return text.format("" if single else "m, n")
    if argument.base == "Scalar":
        return "2"
    if argument.base == "float" and argument.is_list:
        return "[0.5, 2.0]"
    raise ValueError(
        f"{row.schema.qualified} has no sample: write a line in tools/testing/samples/{row.family}.txt"
    )
