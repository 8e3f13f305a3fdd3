"""Kullback-Leibler divergences: `kl_divergence(p, q)`, and a register of the pairs that have a formula.

Formulas are in `_kl_same.py` (p and q of one family), `_kl_other.py` (of two) and `_kl_infinite.py`
(p where q cannot be).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from taeda import Tensor

from ._short_floats import is_short, rounded
from .distribution import Distribution

__all__ = ["kl_divergence", "register_kl"]

Formula = TypeVar("Formula", bound=Callable[..., Any])
_REGISTRY: dict[tuple[type, type], Callable[..., Any]] = {}
_KL_REGISTRY = _REGISTRY  # libraries look formulas up under this name


def register_kl(type_p: type, type_q: type) -> Callable[[Formula], Formula]:
    """Decorate `f(p, q)` as the divergence of a `type_p` from a `type_q`, subclasses included.

    A class that distributions also inherit from will do, as a mixin of a library's own. TypeError
    for what is no class.

    Args:
        type_p: the class of the first distribution
        type_q: the class of the second distribution

    >>> from taeda.distributions import Normal, kl_divergence, register_kl
    >>> class Mine(Normal):
    ...     pass
    >>> @register_kl(Mine, Mine)
    ... def _between(p, q):
    ...     return (p.loc - q.loc).abs()
    >>> kl_divergence(Mine(0.0, 1.0), Mine(3.0, 1.0))
    tensor(3.)
    """
    _load_formulas()
    return register(type_p, type_q)


@functools.cache
def _load_formulas() -> None:
    """Our own first: whoever registers another for a pair of theirs replaces it."""
    from . import _kl_infinite, _kl_other, _kl_same  # noqa: F401 - each registers its formulas; late: they need the registry


def register(type_p: type, type_q: type) -> Callable[[Formula], Formula]:
    """`register_kl` for our own formulas.

    Args:
        type_p: the class of the first distribution
        type_q: the class of the second distribution
    """
    for kind in (type_p, type_q):
        if not isinstance(kind, type):
            raise TypeError(f"Expected a subclass of Distribution, but got {kind!r}")

    def decorate(formula: Formula) -> Formula:
        _REGISTRY[type_p, type_q] = formula
        _formula_of.cache_clear()
        return formula

    return decorate


@functools.cache
def _formula_of(type_p: type, type_q: type) -> Callable[..., Any] | None:
    """The formula whose types are nearest: first by p's ancestors, then by q's."""
    for parent_p in type_p.__mro__:
        for parent_q in type_q.__mro__:
            if (parent_p, parent_q) in _REGISTRY:
                return _REGISTRY[parent_p, parent_q]
    return None


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The mean of log p(x) - log q(x) over samples x of p, of the batch's shape; infinite where q
    cannot give what p does.

    Args:
        p: the first distribution
        q: the second distribution

    >>> from taeda.distributions import Normal, kl_divergence
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)

    NotImplementedError for a pair without a formula.
    """
    _load_formulas()
    kinds: tuple[Any, Any] = type(p), type(q)
    formula = _formula_of(*kinds)
    if formula is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
            f"{type(q).__name__}: register_kl adds one"
        )
    return rounded(formula, p, q) if is_short(p, q) else formula(p, q)
