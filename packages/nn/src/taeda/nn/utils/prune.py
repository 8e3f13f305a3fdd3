"""Pruning: parts of a parameter set to zero by a mask that a hook applies before every forward.

A pruned parameter `w` becomes `w_orig`, with the buffer `w_mask`; the attribute `w` is their product.
Pruning again combines the masks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import taeda
from taeda import Tensor

from ._pruning import (
    BasePruningMethod,
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    PruningContainer,
    RandomStructured,
    RandomUnstructured,
    _hook_of,
)

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


def identity(module: Any, name: str) -> Any:
    """Bring `module.<name>` into the pruned form without pruning it.

    Args:
        module: the module that has the tensor.
        name: name of its parameter.

    >>> layer = identity(taeda.nn.Linear(2, 2), "weight")
    >>> layer.weight_mask.sum()
    tensor(4.)
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: float) -> Any:
    """Prune elements at random: a number, or a fraction in [0, 1].

    Args:
        module: the module that has the tensor.
        name: name of its parameter.
        amount: what is pruned: a float in [0, 1] is a fraction, an int of at least 0 a number.

    >>> layer = random_unstructured(taeda.nn.Linear(2, 2), "weight", 0.5)
    >>> layer.weight_mask.sum()
    tensor(2.)
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Any, name: str, amount: float, importance_scores: Tensor | None = None
) -> Any:
    """Prune the elements of the smallest absolute value (or score).

    Args:
        module: the module that has the tensor.
        name: name of its parameter.
        amount: what is pruned: a float in [0, 1] is a fraction, an int of at least 0 a number.
        importance_scores: scores of the tensor's shape that count instead of the values (None).

    >>> layer = l1_unstructured(taeda.nn.Linear(2, 2), "weight", 1)
    >>> layer.weight_mask.sum()
    tensor(3.)
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: float, dim: int) -> Any:
    """Prune channels along `dim` at random.

    Args:
        module: the module that has the tensor.
        name: name of its parameter.
        amount: how many channels are pruned: a float in [0, 1] is a fraction, an int of at least 0
            a number.
        dim: the dimension of the channels.

    >>> layer = random_structured(taeda.nn.Linear(2, 2), "weight", 1, dim=0)
    >>> layer.weight_mask.sum()
    tensor(2.)
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any,
    name: str,
    amount: float,
    n: Any,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Any:
    """Prune the channels along `dim` of the smallest n-norm.

    Args:
        module: the module that has the tensor.
        name: name of its parameter.
        amount: how many channels are pruned: a float in [0, 1] is a fraction, an int of at least 0
            a number.
        n: order of the norm, as `norm` takes it (2, inf, "fro", ...).
        dim: the dimension of the channels.
        importance_scores: scores of the tensor's shape that count instead of the values (None).

    >>> layer = ln_structured(taeda.nn.Linear(2, 2), "weight", 1, n=2, dim=0)
    >>> layer.weight_mask.sum()
    tensor(2.)
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """Prune by a mask of ones and zeros.

    Args:
        module: the module that has the tensor.
        name: name of its parameter.
        mask: tensor of the parameter's shape: 1 keeps an element, 0 prunes it.

    >>> layer = custom_from_mask(taeda.nn.Linear(2, 2), "bias", taeda.tensor([1.0, 0.0]))
    >>> layer.bias_mask
    tensor([1., 0.])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Any, str]],
    pruning_method: Any,
    importance_scores: dict[tuple[Any, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters, (module, name) each, as if they were one. Raises TypeError.

    `importance_scores` maps some of them to scores that count instead of the values.

    Args:
        parameters: pairs (module, name).
        pruning_method: a class of type "unstructured".
        importance_scores: scores that count instead of values, by such pair (None).
        **kwargs: what the class is made with, such as `amount`.

    >>> layer = taeda.nn.Linear(2, 2)
    >>> global_unstructured([(layer, "weight"), (layer, "bias")], L1Unstructured, amount=3)
    >>> layer.weight_mask.sum() + layer.bias_mask.sum()
    tensor(3.)
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    importance_scores = {} if importance_scores is None else importance_scores
    if not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    scores = [importance_scores.get((m, n), getattr(m, n)).detach() for m, n in parameters]
    masks = [getattr(m, f"{n}_mask", taeda.ones_like(getattr(m, n))) for m, n in parameters]
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
            f"Found method {pruning_method} of type {method.PRUNING_TYPE}"
        )
    flat = taeda.cat([score.reshape(-1) for score in scores])
    before = taeda.cat([mask.detach().reshape(-1) for mask in masks])
    after = container.compute_mask(flat, before)
    for (module, name), part in zip(
        parameters, after.split([score.numel() for score in scores]), strict=True
    ):
        custom_from_mask(module, name, part.reshape(getattr(module, name).shape))


def remove(module: Any, name: str) -> Any:
    """Make the pruned value of `module.<name>` the parameter. Raises ValueError if it is not pruned.

    Args:
        module: the module that has the tensor.
        name: name of its parameter.

    >>> layer = random_unstructured(taeda.nn.Linear(2, 2), "weight", 2)
    >>> _ = remove(layer, "weight")
    >>> int((layer.weight == 0).sum())
    2
    """
    found = _hook_of(module, name)
    if found is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
        )
    key, hook = found
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module: Any) -> bool:
    """Is any parameter of the module, or of those below it, pruned?

    Args:
        module: a module.

    >>> is_pruned(taeda.nn.Linear(2, 2))
    False
    """
    return any(
        isinstance(hook, BasePruningMethod)
        for each in module.modules()
        for hook in each.__dict__.get("_forward_pre_hooks", {}).values()
    )
