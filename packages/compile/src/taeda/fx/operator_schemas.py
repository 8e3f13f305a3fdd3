"""Arguments of calls as the signature of what is called names them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

from taeda import Tensor, nn

__all__ = ["ArgsKwargsPair", "normalize_function", "normalize_module"]


class ArgsKwargsPair(NamedTuple):
    """Arguments of a call: by place, and by name.

    >>> ArgsKwargsPair((1,), {"alpha": 2}).kwargs
    {'alpha': 2}
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


_BY_NAME = inspect.Parameter.KEYWORD_ONLY
_PLAIN = (inspect.Parameter.POSITIONAL_OR_KEYWORD, _BY_NAME)


def normalize_function(
    target: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    arg_types: tuple[Any, ...] | None = None,
    kwarg_types: Mapping[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of `target(*args, **kwargs)` as its signature has them, with its defaults.

    None if it has no signature, one with positional-only or variable arguments, or one that does
    not fit. Of an operator with several overloads, the one that fits: RuntimeError if `arg_types`
    and `kwarg_types` leave more than one.

    >>> import taeda
    >>> normalize_function(taeda.nn.functional.relu, (1,))
    ArgsKwargsPair(args=(1, False), kwargs={})
    >>> normalize_function(taeda.nn.functional.relu, (1,), normalize_to_only_use_kwargs=True)
    ArgsKwargsPair(args=(), kwargs={'input': 1, 'inplace': False})
    """
    kwargs = dict(kwargs or {})
    fitting = [s for s in _signatures(target) if _bound(s, args, kwargs) is not None]
    if len(fitting) > 1 and (arg_types is not None or kwarg_types):
        types = tuple(arg_types or ()), dict(kwarg_types or {})
        fitting = [s for s in fitting if _takes(s, *types)]
    if len(fitting) > 1:
        raise RuntimeError(
            f"{target} has {len(fitting)} overloads that take these arguments: "
            f"{'; '.join(map(str, fitting))}. Pass arg_types and kwarg_types that tell them apart"
        )
    if not fitting:
        return None
    return _pair(fitting[0], args, kwargs, normalize_to_only_use_kwargs)


def normalize_module(
    root: nn.Module,
    target: str,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The same for a call of the module at the path `target` below `root`: as its forward has them.
    RuntimeError if there is no such module.

    >>> model = nn.Sequential(nn.Linear(2, 3))
    >>> normalize_module(model, "0", (1,), normalize_to_only_use_kwargs=True)
    ArgsKwargsPair(args=(), kwargs={'input': 1})
    """
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(f"there is no submodule {target} in {type(root).__name__}") from error
    return normalize_function(
        module.forward,
        args,
        kwargs,
        normalize_to_only_use_kwargs=normalize_to_only_use_kwargs,
    )


# ---- signatures ----


def _signatures(target: Any) -> list[inspect.Signature]:
    """What the target may be called with: one for each overload."""
    if callable(getattr(target, "overloads", None)):
        return [s for name in target.overloads() for s in _signatures(getattr(target, name))]
    try:
        found = _of_overload(target) if hasattr(target, "_parsed") else inspect.signature(target)
    except (TypeError, ValueError):  # a function in C without one, an argument called `from`
        return []
    return [found] if all(p.kind in _PLAIN for p in found.parameters.values()) else []


def _of_overload(overload: Any) -> inspect.Signature:
    """An operator's schema as a signature."""
    made = []
    for argument in overload._parsed.arguments:
        kind = _BY_NAME if argument.keyword_only else _PLAIN[0]
        default = argument.default if argument.has_default else inspect.Parameter.empty
        made.append(
            inspect.Parameter(argument.name, kind, default=default, annotation=argument.declared)
        )
    return inspect.Signature(made)


def _bound(signature: inspect.Signature, args: Any, kwargs: Any) -> inspect.BoundArguments | None:
    try:
        return signature.bind(*args, **kwargs)
    except TypeError:
        return None


def _takes(signature: inspect.Signature, args: Any, kwargs: Any) -> bool:
    """Whether arguments of these types fit: a tensor where a tensor is wanted, and nowhere else."""
    bound = _bound(signature, args, kwargs)
    if bound is None:
        return False
    wanted = {name: str(signature.parameters[name].annotation) for name in bound.arguments}
    return all(_is_tensor(t) == ("Tensor" in wanted[n]) for n, t in bound.arguments.items())


def _is_tensor(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Tensor)


def _pair(signature: inspect.Signature, args: Any, kwargs: Any, named: bool) -> ArgsKwargsPair:
    bound = signature.bind(*args, **kwargs)
    given = dict(bound.arguments)
    bound.apply_defaults()
    values = dict(bound.arguments)
    if any(v is Ellipsis and n not in given for n, v in values.items()):
        values = given  # that nothing was passed there can only be said by passing nothing
        named = named or list(values) != list(signature.parameters)[: len(values)]
    by_name = {n for n in values if named or signature.parameters[n].kind is _BY_NAME}
    return ArgsKwargsPair(
        tuple(v for n, v in values.items() if n not in by_name),
        {n: v for n, v in values.items() if n in by_name},
    )
