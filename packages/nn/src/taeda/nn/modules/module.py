"""Module, the base of all layers: it owns parameters, buffers and children, and is called like a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import taeda
from taeda.utils.backend_registration import register_movable

from . import _global_hooks, _saving
from ._convert import Conversion
from ._global_hooks import (
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from ._hooks import run_hooked
from ._members import TABLES, HookTable, Members, note_change, structure_epoch  # noqa: F401 - pickles find HookTable here
from ._place import name_module
from ._state import EXTRA_STATE as _EXTRA_STATE_KEY_SUFFIX
from ._state import State, _IncompatibleKeys, _LoadHook  # noqa: F401 - pickles find _LoadHook here

# the tables of hooks of all modules, under the names that libraries read
_global_parameter_registration_hooks = _global_hooks.parameter_registration
_global_buffer_registration_hooks = _global_hooks.buffer_registration
_global_module_registration_hooks = _global_hooks.module_registration

__all__ = [
    "_EXTRA_STATE_KEY_SUFFIX",
    "Module",
    "_IncompatibleKeys",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
    "structure_epoch",
]


class Module(State, Conversion):
    """A piece of a model. Derive from it, call `super().__init__()`, and define `forward`.

    What is assigned to an attribute registers itself: a Parameter is trained, a Buffer is kept, a
    Module is a child.

    Args:
        *args, **kwargs: none; TypeError for any. A subclass may take its own.

    >>> class Scale(Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = taeda.nn.Parameter(taeda.ones(()))
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> [name for name, _ in Scale().named_parameters()]
    ['factor']
    """

    training: bool
    call_super_init: bool = False
    dump_patches: bool = False
    _compiled_call_impl: Callable[..., Any] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # no docstring: every layer without one would show this one. Arguments are passed on if
        # `call_super_init` is set
        if (args or kwargs) and not self.call_super_init:
            name = type(self).__name__
            if kwargs:
                raise TypeError(
                    f"{name}.__init__() got an unexpected keyword argument {next(iter(kwargs))!r}"
                )
            raise TypeError(
                f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given"
            )
        attributes = self.__dict__
        attributes["training"] = True
        for table in TABLES:
            attributes[table] = Members(self)
        attributes["_non_persistent_buffers_set"] = set()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes. Every subclass defines it; call the module, not this method."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self._hooked:
                return run_hooked(self, args, kwargs)
            return self.forward(*args, **kwargs)
        except Exception as error:
            name_module(error, self)
            raise

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Let calls of this module go through `taeda.compile`, which takes the arguments.
        The module stays what it is.

        Names in its state dict are as before, and copies and pickles are not compiled. Hooks run as
        they did, and a module with hooks runs as it is written. ModuleNotFoundError without the
        package taeda-compile, else the errors of `taeda.compile`.

        >>> module = Module()
        >>> module.weight = taeda.nn.Parameter(taeda.ones(2))
        >>> module.compile()
        >>> list(module.state_dict())
        ['weight']
        """
        place: Any = taeda.compiler  # upward: the package is there where somebody compiles
        self.__dict__["_compiled_call_impl"] = place.compiled_call(self, *args, **kwargs)
        self.__dict__["_hooked"] = True  # calls look for it where they look for hooks
        note_change()

    # ---- modes ----

    def train(self, mode: bool = True) -> Self:
        """Set training mode here and below. Raises ValueError if `mode` is no bool."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set evaluation mode, the same as `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Ask for gradients of all parameters, or freeze them."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def share_memory(self) -> Self:
        """Move parameters, their gradients and buffers to where other processes can see them;
        returns the module.

        Parameters stay the same objects. See `Tensor.share_memory_`.
        """
        return self._apply(lambda t: t.share_memory_())

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        for param in self.parameters():
            if param.grad is None:
                continue
            if set_to_none:
                param.grad = None
            else:
                if param.grad.grad_fn is not None:
                    param.grad.detach_()
                else:
                    param.grad.requires_grad_(False)
                param.grad.zero_()

    def apply(self, fn: Callable[[Any], Any]) -> Self:
        """Call `fn` on every module below and then on this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # ---- text ----

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What the text of the module says between its parentheses."""
        return ""

    def _repr_html_(self) -> str:
        """What a notebook shows: the layers and their parameters, as `nn.summary` counts them."""
        from .._summary import summary  # late: it needs Module

        return summary(self)._repr_html_()

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [
            f"({name}): " + _indented(repr(module)) for name, module in self._modules.items()
        ]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({extra})"
        if lines or children:
            return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"
        return f"{self._get_name()}()"


def _indented(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *("  " + line for line in rest)])


def _follow_global_hooks() -> None:
    """While there are global hooks, every call looks for hooks."""
    Module._hooked = _global_hooks.any_call_hook()


_global_hooks.watch_call_hooks(_follow_global_hooks)
register_movable("module", Module)
_saving.register(Module)
