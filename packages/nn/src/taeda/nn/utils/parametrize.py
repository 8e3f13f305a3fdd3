"""Parameters that are computed from others: the module's class gets a property in place of the tensor."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import taeda
from taeda import Tensor

from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_cache_depth = 0
_cache: dict[tuple[int, str], Tensor | None] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Within the `with` block every parametrized tensor is computed once, when it is first read.

    >>> with cached():
    ...     print(taeda.nn.Linear(2, 2)(taeda.zeros(1, 2)).shape)
    taeda.Size([1, 2])
    """
    global _cache_depth
    _cache_depth += 1
    try:
        yield
    finally:
        _cache_depth -= 1
        if not _cache_depth:
            _cache.clear()


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _take_over(target: Tensor, source: Tensor) -> None:
    """Give `target`, which stays the same object, the values of `source`."""
    with taeda.no_grad():
        if target.shape == source.shape and target.dtype == source.dtype:
            target.copy_(source)
        else:
            target.data = source.detach().clone()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied from first to last, and what they start from.

    That is the parameter or buffer `original`, or `original0`, `original1`, ... if the `right_inverse` of
    the first parametrization returns several. Raises ValueError where the results do not fit.

    Args:
        modules: the parametrizations, at least one.
        original: the tensor that is parametrized.
        unsafe: whether shape and dtype may change, and nothing is checked (False).

    >>> class Positive(taeda.nn.Module):
    ...     def forward(self, x):
    ...         return x.exp()
    >>> layer = taeda.nn.Linear(2, 1)
    >>> _ = taeda.nn.utils.parametrize.register_parametrization(layer, "weight", Positive())
    >>> len(layer.parametrizations.weight), bool((layer.weight > 0).all())
    (1, True)
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        start = self._initial(original)
        self.is_tensor = isinstance(start, Tensor)
        self.ntensors = 1 if self.is_tensor else len(start)
        if isinstance(start, Tensor):
            if original.dtype != start.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {start.dtype}"
                )
            _take_over(original, start)
            _register(self, "original", original)
        else:
            for i, each in enumerate(start):
                self._register_one(f"original{i}", each, original)
        if not unsafe:
            _check_same("Registering a parametrization", self(), shape, dtype)

    def _initial(self, original: Tensor) -> Any:
        """The tensor, or tensors, from which the parametrizations give the original."""
        start: Any = original
        with taeda.no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        start = module.right_inverse(start)
                    except NotImplementedError:
                        continue  # it says that it has none after all
        if not isinstance(start, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(start).__name__}"
            )
        return start

    def _register_one(self, name: str, tensor: Any, original: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors. Got element "
                f"{name} with type {type(tensor).__name__}"
            )
        if isinstance(original, Parameter):
            tensor = Parameter(tensor, original.requires_grad)
        _register(self, name, tensor.requires_grad_(original.requires_grad))

    def _originals(self) -> list[Tensor]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Change the originals so that the parametrized tensor becomes `value`, as far as that is possible.

        Raises RuntimeError if a parametrization has no `right_inverse`, ValueError where it does not fit.
        """
        with taeda.no_grad():
            result: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                result = module.right_inverse(result)
        results = [result] if self.is_tensor else result
        if not isinstance(results, Sequence) or len(results) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return {self.ntensors} tensor(s), got {result!r}"
            )
        for target, source in zip(self._originals(), results, strict=True):
            if not isinstance(source, Tensor):
                raise ValueError(
                    f"`right_inverse` should return a tensor. Got {type(source).__name__}"
                )
            if source.dtype != target.dtype:
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {source.dtype} while "
                    f"`original` has {target.dtype}"
                )
            _take_over(target, source)

    def forward(self) -> Tensor:
        """The parametrized tensor."""
        first, *rest = list(self)
        x: Tensor = first(*self._originals())
        for module in rest:
            x = module(x)
        return x


def _check_same(what: str, made: Any, shape: Any, dtype: Any) -> None:
    if not isinstance(made, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
    for name, before, after in (("dtype", dtype, made.dtype), ("shape", shape, made.shape)):
        if before != after:
            raise ValueError(
                f"{what} may not change the {name} of the tensor, unless `unsafe` flag is enabled.\n"
                f"unparametrized {name}: {before}\nparametrized {name}: {after}"
            )


# ---- classes made for one module ----


def _no_pickle(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(): save that, and "
        "register the parametrizations again before it is loaded."
    )


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    if id(self) not in memo:
        made = self.__class__.__new__(self.__class__)
        memo[id(self)] = made
        made.__setstate__(copy.deepcopy(Module.__getstate__(self), memo))
    return memo[id(self)]


def _inject_class(module: Module) -> None:
    """Give the module a class of its own, which can hold properties."""
    base = type(module)
    own = {"__getstate__": _no_pickle, "__deepcopy__": _deepcopy}
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), own)


def _computed_once(key: tuple[int, str], listed: ParametrizationList) -> Tensor:
    found = _cache.get(key)
    if found is None:
        found = listed()
        _cache[key] = found
    return found


def _inject_property(module: Module, name: str) -> None:
    def read(self: Any) -> Tensor:
        listed: ParametrizationList = self.parametrizations[name]
        made: Tensor = _computed_once((id(self), name), listed) if _cache_depth else listed()
        return made

    def write(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(read, write))


# ---- registration ----


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Make `module.<tensor_name>` the result of a parametrization of itself; further ones go on top.

    Assigning to the tensor goes through `right_inverse`. Raises ValueError for an unknown name, or, unless
    `unsafe`, for a parametrization that changes shape or dtype.

    Args:
        module: the module that has the tensor.
        tensor_name: name of its parameter or buffer.
        parametrization: module from the tensor to what takes its place.
        unsafe: whether shape and dtype may change, and nothing is checked (False).

    >>> layer = taeda.nn.Linear(2, 2)
    >>> _ = register_parametrization(layer, "weight", taeda.nn.ReLU())
    >>> bool((layer.weight >= 0).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        listed: Any = module.parametrizations[tensor_name]
        if not unsafe:
            value = getattr(module, tensor_name)
            made = parametrization(value)
            _check_same("Registering a parametrization", made, value.shape, value.dtype)
            _check_inverse(parametrization, made)
        listed.append(parametrization)
        listed.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        listed = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = listed
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def _check_inverse(parametrization: Any, made: Tensor) -> None:
    if hasattr(parametrization, "right_inverse"):
        with taeda.no_grad():
            back = parametrization.right_inverse(made)
        if not isinstance(back, Tensor):
            raise ValueError(
                f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}"
            )
        _check_same(
            "The tensor returned by parametrization.right_inverse", back, made.shape, made.dtype
        )


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Has the module a parametrized tensor (of this name)?

    Args:
        module: the module that has the tensor.
        tensor_name: name of a tensor (None: any).

    >>> is_parametrized(taeda.nn.Linear(2, 2))
    False
    """
    listed = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(listed, ModuleDict):
        return False
    return len(listed) > 0 if tensor_name is None else tensor_name in listed


def type_before_parametrizations(module: Module) -> type:
    """The class of the module before it got one of its own.

    Args:
        module: a module, parametrized or not.

    >>> type_before_parametrizations(taeda.nn.ReLU()).__name__
    'ReLU'
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Make the tensor an ordinary one again: with its present value, or else with that of the original.

    Raises ValueError if it is not parametrized, or has several originals and is to keep one.

    Args:
        module: the module that has the tensor.
        tensor_name: name of the parametrized tensor.
        leave_parametrized: whether the present value stays, instead of the original (True).

    >>> layer = taeda.nn.Linear(2, 2)
    >>> _ = register_parametrization(layer, "weight", taeda.nn.ReLU())
    >>> _ = remove_parametrizations(layer, "weight")
    >>> is_parametrized(layer)
    False
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    listed: Any = module.parametrizations[tensor_name]
    if listed.is_tensor:
        original = listed.original
        if leave_parametrized:
            with taeda.no_grad():
                _take_over(original, getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        wanted = any(tensor.requires_grad for tensor in listed._originals())
        original = Parameter(value.detach(), wanted) if wanted else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms "
            "of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Put the parametrizations and values of one module on another one; all, or those of one tensor.

    Raises ValueError if there are none.

    Args:
        from_module: the module that has them.
        to_module: the module that gets them.
        tensor_name: name of one tensor (None: all).

    >>> layer = taeda.nn.Linear(2, 2)
    >>> _ = register_parametrization(layer, "weight", taeda.nn.ReLU())
    >>> other = transfer_parametrizations_and_params(layer, taeda.nn.Linear(2, 2))
    >>> is_parametrized(other)
    True
    """
    if not is_parametrized(from_module):
        raise ValueError(f"{from_module} has no parametrization to transfer")
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        source: Any = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        for each in source:
            register_parametrization(to_module, name, each, unsafe=source.unsafe)
        target: Any = to_module.parametrizations[name]
        for mine, theirs in zip(target._originals(), source._originals(), strict=True):
            _take_over(mine, theirs.detach())
    return to_module
