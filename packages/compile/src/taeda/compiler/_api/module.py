"""A module behind `compile`: called as the original, whose state it has under `_orig_mod`."""

from __future__ import annotations

import copy
import weakref
from typing import Any

from taeda import nn
from taeda.nn.modules import _global_hooks
from taeda.nn.modules._members import CALL_HOOKS

__all__ = ["OptimizedModule"]

_OWN = frozenset(vars(nn.Module())) | {"_orig_mod", "_compiled", "_asked", "__class__"}


class OptimizedModule(nn.Module):
    """Calls `_orig_mod`, and has its attributes; its parameters carry the prefix `_orig_mod.`.

    Args:
        module: the original.
        compiled: the state behind it; None leaves it as it is (None).

    >>> model = taeda.compile(nn.Linear(3, 2))
    >>> type(model).__name__, list(model.state_dict())
    ('OptimizedModule', ['_orig_mod.weight', '_orig_mod.bias'])
    """

    def __init__(self, module: nn.Module, compiled: Any = None) -> None:
        super().__init__()
        self.__dict__["_compiled"] = compiled
        self.__dict__["_asked"] = {}  # arguments of `compile`
        self._modules["_orig_mod"] = module
        self.training = module.training
        if compiled is not None:
            own = weakref.ref(self)
            compiled.at_gate = lambda closed: _shorten(own(), closed)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the original returns, hooks of it included."""
        compiled = self.__dict__["_compiled"]
        if compiled is None or compiled.off:
            return self._modules["_orig_mod"](*args, **kwargs)
        return compiled(args, kwargs)

    def __deepcopy__(self, memo: dict[int, Any]) -> OptimizedModule:
        return self._again(copy.deepcopy(self._orig_mod, memo))

    def __reduce__(self) -> Any:
        return _rebuilt, (self._orig_mod, self._asked)

    def _again(self, module: nn.Module) -> OptimizedModule:
        return _rebuilt(module, self._asked)

    def __getattr__(self, name: str) -> Any:
        modules = self.__dict__.get("_modules") or {}
        if name == "_orig_mod" and name in modules:
            return modules[name]
        try:
            return super().__getattr__(name)
        except AttributeError:
            if "_orig_mod" not in modules:
                raise
            return getattr(modules["_orig_mod"], name)

    def _taeda_expect_hooks(self) -> None:
        _call_whole(self)
        super()._taeda_expect_hooks()

    def __setattr__(self, name: str, value: Any) -> None:
        modules = self.__dict__.get("_modules") or {}
        if name == "_orig_mod":
            _call_whole(self)
            self.__dict__.pop("forward", None)
        if name in _OWN or "_orig_mod" not in modules:
            super().__setattr__(name, value)
        else:
            setattr(modules["_orig_mod"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._modules["_orig_mod"], name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._modules["_orig_mod"])})


_direct: weakref.WeakSet[OptimizedModule] = weakref.WeakSet()


def _shorten(module: OptimizedModule | None, closed: bool) -> None:
    """Calls that go to the original in any case go there without `forward` between them; those of a
    module without hooks of its own go there at once.
    """
    if module is None:
        return
    _call_whole(module)
    if not closed:
        module.__dict__.pop("forward", None)
        return
    module.__dict__["forward"] = module._modules["_orig_mod"]
    if CALL_HOOKS.isdisjoint(module.__dict__) and not _global_hooks.any_call_hook():
        _call_at_once(module)


def _call_at_once(module: OptimizedModule) -> None:
    """Python finds the original where it looks for the method `__call__`: in the class, which is
    the module's own.
    """
    own = {"__call__": module._modules["_orig_mod"], "__module__": __name__}
    made = type("OptimizedModule", (OptimizedModule,), own)
    object.__setattr__(module, "__class__", made)
    _direct.add(module)
    # a class lives until the next collection of cycles, and the original's memory is not to wait
    weakref.finalize(module, _let_go, made).atexit = False


def _call_whole(module: OptimizedModule) -> None:
    """Calls look for hooks again."""
    made = type(module)
    if made is not OptimizedModule and "__call__" in vars(made):
        object.__setattr__(module, "__class__", OptimizedModule)
        _direct.discard(module)
        _let_go(made)


def _let_go(made: type) -> None:
    if "__call__" in vars(made):
        del made.__call__


def _follow_global_hooks() -> None:
    if _direct and _global_hooks.any_call_hook():
        for module in list(_direct):
            _call_whole(module)


_global_hooks.watch_call_hooks(_follow_global_hooks)


def _rebuilt(module: nn.Module, asked: dict[str, Any]) -> OptimizedModule:
    """One like another, with nothing captured yet."""
    from .. import compile  # late: it names this module

    made: OptimizedModule = compile(module, **asked)
    return made
