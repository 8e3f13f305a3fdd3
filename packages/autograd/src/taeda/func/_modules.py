"""A module as a function of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import taeda
from taeda import Tensor

__all__ = ["functional_call", "replace_all_batch_norm_modules_", "stack_module_state"]

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

    Args:
        module: the module that is called.
        parameter_and_buffer_dicts: tensors by path, in one dict or in several.
        args: the positional arguments, as a tuple; anything else is the one argument (None: none).
        kwargs: the keyword arguments (None: none).
        tie_weights: whether names of one tensor stay one (True).
        strict: whether missing or unknown paths raise (False).

    >>> layer = taeda.nn.Linear(1, 1, bias=False)
    >>> functional_call(layer, {"weight": taeda.ones(1, 1) * 2}, taeda.ones(1))
    tensor([2.])
    """
    from taeda.nn.utils import stateless  # upward: a module to call comes from there

    given = parameter_and_buffer_dicts
    if not isinstance(given, Mapping):
        if not isinstance(given, Sequence) or not all(isinstance(d, Mapping) for d in given):
            raise ValueError(
                "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but "
                f"got {type(given)}"
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


def _stacked(tensors: Sequence[Tensor], name: str) -> Tensor:
    wanted = {t.requires_grad for t in tensors}
    if len(wanted) > 1:
        raise RuntimeError(
            f"Expected {name} from each model to have the same .requires_grad: set it alike before stacking"
        )
    return taeda.stack([t.detach() for t in tensors]).requires_grad_(wanted.pop())


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """(parameters, buffers) of models of one class, by name, each stacked along a new first
    dimension: new leaves.

    RuntimeError for no models, for different classes, and for some in training and some in evaluation mode.

    Args:
        models: at least one module, all of one class and mode.

    >>> params, buffers = stack_module_state([taeda.nn.Linear(2, 3) for _ in range(4)])
    >>> params["weight"].shape
    taeda.Size([4, 3, 2])
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    made: list[dict[str, Tensor]] = []
    for kind in ("named_parameters", "named_buffers"):
        each = [dict(getattr(m, kind)()) for m in models]
        made.append({name: _stacked([own[name] for own in each], name) for name in each[0]})
    return made[0], made[1]


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Let every batch norm in `root` normalize by the batch it sees: running statistics are dropped
    in place. Returns `root`.

    Args:
        root: a module; it may be a batch norm itself.

    >>> norm = replace_all_batch_norm_modules_(taeda.nn.BatchNorm1d(2))
    >>> norm.running_mean is None
    True
    """
    from taeda import nn  # upward: the modules come from there

    for module in root.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
