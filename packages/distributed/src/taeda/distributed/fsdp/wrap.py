"""Policies: which modules of a model become units of their own."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from taeda import nn

__all__ = [
    "CustomPolicy", "ModuleWrapPolicy", "always_wrap_policy", "enable_wrap", "lambda_auto_wrap_policy",
    "size_based_auto_wrap_policy", "transformer_auto_wrap_policy", "wrap",
]  # fmt: skip

Policy = Callable[..., Any]


def always_wrap_policy(*args: Any, **kwargs: Any) -> bool:
    """Every module is a unit.

    >>> always_wrap_policy(module=nn.ReLU(), recurse=False, nonwrapped_numel=0)
    True
    """
    return True


def size_based_auto_wrap_policy(
    module: nn.Module,
    recurse: bool,
    nonwrapped_numel: int,
    min_num_params: int = int(1e8),
    force_leaf_modules: set[type[nn.Module]] | None = None,
    exclude_wrap_modules: set[type[nn.Module]] | None = None,
) -> bool:
    """A module is a unit if at least `min_num_params` elements in it belong to no unit yet.

    >>> import functools
    >>> policy = functools.partial(size_based_auto_wrap_policy, min_num_params=100)
    >>> policy(nn.Linear(4, 4), False, 20), policy(nn.Linear(20, 20), False, 420)
    (False, True)
    """
    leaves = tuple(force_leaf_modules or (nn.MultiheadAttention,))
    excluded = tuple(exclude_wrap_modules or (nn.ModuleList, nn.ModuleDict))
    large = nonwrapped_numel >= min_num_params
    if recurse:
        return large and not isinstance(module, leaves)
    return large and not isinstance(module, excluded)


size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES = {nn.ModuleList, nn.ModuleDict}  # type: ignore[attr-defined]  # programs read it
size_based_auto_wrap_policy.FORCE_LEAF_MODULES = {nn.MultiheadAttention}  # type: ignore[attr-defined]  # programs read it


def transformer_auto_wrap_policy(
    module: nn.Module,
    recurse: bool,
    nonwrapped_numel: int,
    transformer_layer_cls: Iterable[type[nn.Module]],
) -> bool:
    """Modules of these classes are units.

    >>> import functools
    >>> policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={nn.Linear})
    >>> policy(nn.Linear(4, 4), False, 20), policy(nn.ReLU(), False, 0)
    (True, False)
    """
    return recurse or isinstance(module, tuple(transformer_layer_cls))


def lambda_auto_wrap_policy(
    module: nn.Module, recurse: bool, nonwrapped_numel: int, lambda_fn: Callable[[nn.Module], bool]
) -> bool:
    """Modules for which the function says so are units.

    >>> import functools
    >>> wide = lambda module: getattr(module, "out_features", 0) > 8
    >>> policy = functools.partial(lambda_auto_wrap_policy, lambda_fn=wide)
    >>> policy(nn.Linear(4, 4), False, 20), policy(nn.Linear(4, 16), False, 80)
    (False, True)
    """
    return recurse or bool(lambda_fn(module))


class ModuleWrapPolicy:
    """Modules of these classes are units.

    >>> policy = ModuleWrapPolicy({nn.TransformerEncoderLayer, nn.Linear})
    >>> policy(nn.Linear(4, 4), recurse=False), policy(nn.ReLU(), recurse=False)
    (True, False)
    """

    def __init__(self, module_classes: Iterable[type[nn.Module]]) -> None:
        self._classes = tuple(module_classes)

    def __call__(self, module: nn.Module, recurse: bool, *args: Any, **kwargs: Any) -> bool:
        """Is the module a unit?"""
        return recurse or isinstance(module, self._classes)


class CustomPolicy:
    """Modules for which `lambda_fn` returns True are units, or a dict: with these settings of their own.

    >>> settings = {"forward_prefetch": True}
    >>> policy = CustomPolicy(lambda module: settings if isinstance(module, nn.Linear) else False)
    >>> policy(nn.Linear(4, 4), recurse=False), policy(nn.ReLU(), recurse=False)
    ({'forward_prefetch': True}, False)
    """

    def __init__(self, lambda_fn: Callable[[nn.Module], bool | dict[str, Any]]) -> None:
        self._function = lambda_fn

    def __call__(self, module: nn.Module, recurse: bool, *args: Any, **kwargs: Any) -> Any:
        """Is the module a unit, and with what settings?"""
        if recurse:
            return True
        said = self._function(module)
        if not isinstance(said, (bool, dict)):
            raise ValueError(
                f"CustomPolicy: the function gives True, False or a dict, not {said!r}"
            )
        return said


def wrapped_below(
    root: nn.Module,
    policy: Any,
    make: Callable[[nn.Module, dict[str, Any]], nn.Module],
    ignored: set[int],
) -> None:
    """Put units in the place of the modules below `root` that the policy names, from the inside out."""
    made: dict[int, nn.Module] = {}

    def visit(module: nn.Module) -> None:
        for name, part in list(module.named_children()):
            if id(part) in ignored or hasattr(part, "_fsdp_wrapped_module"):
                continue
            if id(part) in made:
                setattr(module, name, made[id(part)])
                continue
            free = _free(part)
            if policy(module=part, recurse=True, nonwrapped_numel=free):
                visit(part)
            said = policy(module=part, recurse=False, nonwrapped_numel=_free(part))
            if said or isinstance(said, dict):
                made[id(part)] = make(part, said if isinstance(said, dict) else {})
                setattr(module, name, made[id(part)])

    visit(root)


def _free(module: nn.Module) -> int:
    """Elements of parameters that are in no unit."""
    from ..tensor._api import DTensor

    return sum(p.numel() for p in module.parameters() if not isinstance(p, DTensor))


# ---- by hand ----


class _Wrapping(threading.local):
    """The `enable_wrap` blocks around, of each thread."""

    def __init__(self) -> None:
        self.held: list[tuple[Callable[..., nn.Module], dict[str, Any]]] = []


_wrapping = _Wrapping()


@contextlib.contextmanager
def enable_wrap(*, wrapper_cls: Any, **wrapper_kwargs: Any) -> Iterator[None]:
    """Inside, `wrap(module)` makes units by `wrapper_cls` with these settings.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed.fsdp import FullyShardedDataParallel
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> with enable_wrap(wrapper_cls=FullyShardedDataParallel):
    ...     model = nn.Sequential(wrap(nn.Linear(2, 4)), nn.ReLU())
    >>> [type(part).__name__ for part in model]
    ['FullyShardedDataParallel', 'ReLU']
    >>> dist.destroy_process_group()
    """
    _wrapping.held.append((wrapper_cls, wrapper_kwargs))
    try:
        yield
    finally:
        _wrapping.held.pop()


def wrap(module: nn.Module, **wrap_overrides: Any) -> nn.Module:
    """The module as a unit inside `enable_wrap`, and as it is outside.

    >>> layer = nn.Linear(2, 4)
    >>> wrap(layer) is layer  # outside of `enable_wrap`
    True
    """
    if not _wrapping.held:
        return module
    kind, settings = _wrapping.held[-1]
    return kind(module, **{**settings, **wrap_overrides})


def _or_policy(
    module: nn.Module, recurse: bool, nonwrapped_numel: int, policies: Iterable[Policy]
) -> bool:
    """Does any of the policies say so?"""
    return any(
        policy(module=module, recurse=recurse, nonwrapped_numel=nonwrapped_numel)
        for policy in policies
    )
