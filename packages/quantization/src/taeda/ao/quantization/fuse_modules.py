"""Join layers that follow each other: `fuse_modules`, and `fuse_modules_qat` before training for integers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from taeda import nn

from .fuser_method_mappings import get_fuser_method

__all__ = ["fuse_known_modules", "fuse_modules", "fuse_modules_qat"]


def fuse_known_modules(
    mod_list: list[nn.Module], is_qat: bool, additional_fuser_method_mapping: Any = None
) -> list[Any]:
    """The joined module, and an `nn.Identity` for each of the others.

    Args:
        mod_list: layers that follow each other.
        is_qat: whether they will be trained for integers.
        additional_fuser_method_mapping: functions by tuples of classes, which win (default:
            None).

    NotImplementedError for layers that are not joined, AssertionError for a wrong mode.

    >>> layers = [nn.Linear(2, 3), nn.ReLU()]
    >>> [type(layer).__name__ for layer in fuse_known_modules(layers, is_qat=False)]
    ['LinearReLU', 'Identity']
    """
    method = get_fuser_method([type(mod) for mod in mod_list], additional_fuser_method_mapping)
    fused = method(is_qat, *mod_list)
    for hook in list(mod_list[0]._forward_pre_hooks.values()):
        fused.register_forward_pre_hook(hook)
    mod_list[0]._forward_pre_hooks.clear()
    for hook in list(mod_list[-1]._forward_hooks.values()):
        fused.register_forward_hook(hook)
    mod_list[-1]._forward_hooks.clear()
    others = [nn.Identity().train(mod_list[0].training) for _ in mod_list[1:]]
    return [fused, *others]


def _place(model: nn.Module, name: str) -> tuple[nn.Module, str]:
    path, _, last = name.rpartition(".")
    return (model.get_submodule(path) if path else model), last


def _fuse(
    model: nn.Module,
    groups: Any,
    is_qat: bool,
    inplace: bool,
    fuser_func: Callable[..., Any],
    custom: Any,
) -> nn.Module:
    if not inplace:
        model = copy.deepcopy(model)
    mapping = (custom or {}).get("additional_fuser_method_mapping", {})
    if groups and all(isinstance(name, str) for name in groups):
        groups = [groups]
    for names in groups:
        mods = [model.get_submodule(name) for name in names]
        for name, made in zip(names, fuser_func(mods, is_qat, mapping), strict=True):
            parent, last = _place(model, name)
            parent._modules[last] = made
    return model


def fuse_modules(
    model: nn.Module,
    modules_to_fuse: Any,
    inplace: bool = False,
    fuser_func: Callable[..., Any] = fuse_known_modules,
    fuse_custom_config_dict: Any = None,
) -> nn.Module:
    """Join layers of a model in eval mode: the first becomes the joined one, the others `nn.Identity`.

    Convolution, batch normalisation and ReLU; linear layer and ReLU or batch normalisation; batch
    normalisation and ReLU.

    Args:
        model: what has the layers.
        modules_to_fuse: a list of names of layers that follow each other, or a list of such lists.
        inplace: whether the model itself is changed (default: False).
        fuser_func: joins the layers of one list.
        fuse_custom_config_dict: more functions, under "additional_fuser_method_mapping"
            (default: None).

    AssertionError in train mode, NotImplementedError for other layers, AttributeError for a name that is
    none.

    >>> from taeda import nn
    >>> model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()).eval()
    >>> [type(layer).__name__ for layer in fuse_modules(model, ["0", "1", "2"])]
    ['ConvReLU2d', 'Identity', 'Identity']
    """
    return _fuse(model, modules_to_fuse, False, inplace, fuser_func, fuse_custom_config_dict)


def fuse_modules_qat(
    model: nn.Module,
    modules_to_fuse: Any,
    inplace: bool = False,
    fuser_func: Callable[..., Any] = fuse_known_modules,
    fuse_custom_config_dict: Any = None,
) -> nn.Module:
    """Join layers of a model in train mode, which will be trained for integers. Errors are those of
    `fuse_modules`.

    Args:
        model, modules_to_fuse, inplace, fuser_func, fuse_custom_config_dict: as in
            `fuse_modules` (defaults: inplace False, fuse_custom_config_dict None).

    >>> model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()).train()
    >>> joined = fuse_modules_qat(model, ["0", "1", "2"])
    >>> [type(layer).__name__ for layer in joined]
    ['ConvBnReLU2d', 'Identity', 'Identity']
    """
    return _fuse(model, modules_to_fuse, True, inplace, fuser_func, fuse_custom_config_dict)
