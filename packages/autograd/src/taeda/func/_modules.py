"""A module as a function of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from taeda import Tensor

__all__ = ["functional_call"]

Named = Mapping[str, Tensor]


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Named | Sequence[Named],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call `module` with these tensors in place of its parameters and buffers, from one dict or several.

    ValueError if a name is in two dicts; the rest is as in `taeda.nn.utils.stateless.functional_call`.
    """
    from taeda.nn.utils import stateless  # upward: a module to call comes from there

    given = parameter_and_buffer_dicts
    if not isinstance(given, Mapping):
        if not isinstance(given, Sequence) or not all(isinstance(d, Mapping) for d in given):
            raise ValueError(
                f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(given)}"
            )
        given = _merged(given)
    return stateless.functional_call(
        module, given, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def _merged(dicts: Sequence[Named]) -> Named:
    made: dict[str, Tensor] = {}
    for part in dicts:
        for name, tensor in part.items():
            if name in made:
                raise ValueError(
                    f"{name} appears in multiple dictionaries; behavior of functional call is ambiguous"
                )
            made[name] = tensor
    return made
