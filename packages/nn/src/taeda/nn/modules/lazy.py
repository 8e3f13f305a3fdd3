"""Layers that learn the number of their inputs from the first batch they see."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

from ..parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Goes before the layer among the bases. The first call infers the shapes, and the module becomes
    an instance of `cls_to_become`; its parameters are the same objects before and after.

    Derive `initialize_parameters`, which takes the arguments of forward and gives the uninitialized
    parameters their shapes. Moving, casting and loading a state dict work before the first call;
    copies and pickles of a module that was not called yet stay lazy.
    """

    cls_to_become: ClassVar[Any] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        module: Any = self
        self._load_hook = module._register_load_state_dict_pre_hook(_materialize, with_module=True)
        self._initialize_hook = module.register_forward_pre_hook(
            _infer_parameters, with_kwargs=True
        )

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Uninitialized tensors have no shape, so they are written as they are."""
        module: Any = self
        for name, tensor in module._taeda_persistent().items():
            if tensor is not None:
                whole = is_lazy(tensor) or keep_vars
                destination[prefix + name] = tensor if whole else tensor.detach()

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes from the arguments of the first forward."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self) -> bool:
        """Is there a parameter or buffer without a shape?"""
        module: Any = self
        return any(map(is_lazy, _own_tensors(module)))


def _own_tensors(module: Any) -> Any:
    return itertools.chain(module._parameters.values(), module._buffers.values())


def _materialize(module: Any, state_dict: Any, prefix: str, *_: Any) -> None:
    """Give shapes to what a state dict is about to fill."""
    for name, tensor in module._taeda_persistent().items():
        key = prefix + name
        if tensor is not None and key in state_dict and is_lazy(tensor):
            source = state_dict[key]
            if not is_lazy(source):
                tensor.materialize(source.shape)


def _infer_parameters(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The first call: infer, then become the ordinary class."""
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(
            f"module {module._get_name()} has not been fully initialized: initialize_parameters left "
            "parameters without a shape"
        )
    module._initialize_hook.remove()
    module._load_hook.remove()
    del module._initialize_hook
    del module._load_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become
