"""Derivatives of products without a division: by pairs of factors, pairs of pairs, and so on.

A quotient `result / x` has no value at 0, and its derivatives lose all digits near it: the fourth derivative
of a product of factors of 1e-8 is a difference of numbers of 1e16. Sums of products have neither. With the
tree of pairs of a prefix sum (Blelloch 1990, Prefix Sums and Their Applications) all of them take as many
steps as there are factors.
"""

from __future__ import annotations

import taeda
from taeda import Tensor

from ._registry import differentiated

__all__ = ["gradient_of_running", "has_quotients", "of_others", "of_others_in_groups"]


def has_quotients(product: Tensor, factors: Tensor | None = None) -> bool:
    """Whether products of the others are `product` divided by one, and no derivative follows: all digits are
    there, so that no factor is 0 or infinite. Beside `factors` of at least eps the product may be small:
    what it lost is less than the least normal number then, also after the division.
    """
    if differentiated():
        return False
    if not product.numel():
        return True
    least, most = product.abs().aminmax()
    of = taeda.finfo(product.dtype)
    if not bool(most <= of.max):
        return False
    return bool(least >= of.tiny) or (factors is not None and bool(factors.abs().min() >= of.eps))


def _every_second(x: Tensor, dim: int, first: int) -> Tensor:
    part: Tensor = x[(*(slice(None),) * dim, slice(first, None, 2))]
    return part


def _interleaved(even: Tensor, odd: Tensor, dim: int) -> Tensor:
    """even[0], odd[0], even[1], ...; the last of `even` may have no partner."""
    pairs = odd.size(dim)
    made = taeda.stack([even.narrow(dim, 0, pairs), odd], dim + 1).flatten(dim, dim + 1)
    rest = even.size(dim) - pairs
    return taeda.cat([made, even.narrow(dim, pairs, rest)], dim) if rest else made


def of_others(x: Tensor, dim: int) -> Tensor:
    """For every element the product of the others along `dim`, which is not negative."""
    if x.size(dim) == 1:
        return taeda.ones_like(x)
    even, odd = _every_second(x, dim, 0), _every_second(x, dim, 1)
    pairs, rest = odd.size(dim), even.size(dim) - odd.size(dim)
    paired = even.narrow(dim, 0, pairs)
    above = paired * odd
    if rest:
        above = taeda.cat([above, even.narrow(dim, pairs, rest)], dim)
    others = of_others(above, dim)
    of_pairs = others.narrow(dim, 0, pairs)
    of_even = of_pairs * odd
    if rest:
        of_even = taeda.cat([of_even, others.narrow(dim, pairs, rest)], dim)
    return _interleaved(of_even, of_pairs * paired, dim)


def gradient_of_running(grad: Tensor, x: Tensor, result: Tensor, dim: int) -> Tensor:
    """The gradient of `result`, the running product of x along `dim`, which is not negative."""
    if x.size(dim) == 1:
        return grad
    even, odd = _every_second(x, dim, 0), _every_second(x, dim, 1)
    by_even, by_odd = _every_second(grad, dim, 0), _every_second(grad, dim, 1)
    pairs, count = odd.size(dim), even.size(dim)
    running = _every_second(result, dim, 1)  # the running product of the pairs
    one = taeda.ones_like(x.narrow(dim, 0, 1))
    before = taeda.cat([one, running.narrow(dim, 0, count - 1)], dim)
    # each pair's running product is a result itself, and a factor of the next one
    onward = (by_even * even).narrow(dim, 1, count - 1)
    if count == pairs:
        onward = taeda.cat([onward, taeda.zeros_like(one)], dim)
    paired = even.narrow(dim, 0, pairs)
    by_pair = gradient_of_running(by_odd + onward, paired * odd, running, dim)
    to_even = by_pair * odd
    if count > pairs:
        to_even = taeda.cat([to_even, taeda.zeros_like(one)], dim)
    return _interleaved(by_even * before + to_even, by_pair * paired, dim)


def of_others_in_groups(x: Tensor, group: Tensor, dim: int) -> Tensor:
    """For every element the product of the others along `dim` that have its number in `group`, of x's shape.

    Groups are sorted, and running products of both directions stop at their ends.
    """
    if not x.dim() or x.size(dim) < 2:
        return taeda.ones_like(x)
    group, order = group.sort(dim=dim, stable=True)
    x = x.gather(dim, order)
    after = _running_before(x.flip(dim), group.flip(dim), dim).flip(dim)
    return (_running_before(x, group, dim) * after).gather(dim, order.argsort(dim))


def _running_before(x: Tensor, group: Tensor, dim: int) -> Tensor:
    """The product of what lies before each element in its group (Hillis and Steele 1986)."""

    def earlier(x: Tensor, step: int) -> Tensor:
        count = x.size(dim) - step
        same = group.narrow(dim, step, count) == group.narrow(dim, 0, count)
        return taeda.where(same, x.narrow(dim, 0, count), 1.0)

    made, step = taeda.cat([taeda.ones_like(x.narrow(dim, 0, 1)), earlier(x, 1)], dim), 1
    while step < x.size(dim):
        later = made.narrow(dim, step, x.size(dim) - step) * earlier(made, step)
        made, step = taeda.cat([made.narrow(dim, 0, step), later], dim), 2 * step
    return made
