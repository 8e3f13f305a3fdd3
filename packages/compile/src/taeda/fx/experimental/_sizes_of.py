"""Symbols for the sizes, strides and offset of a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taeda import Tensor

from ._contexts import (
    DimDynamic,
    StatefulSymbolicContext,
    StatelessSymbolicContext,
    SubclassSymbolicContext,
    SymbolicContext,
)
from ._expressions import Expression, constant

if TYPE_CHECKING:
    from .symbolic_shapes import ShapeEnv

__all__ = ["symbolic_layout"]

Layout = tuple[tuple[Expression, ...], tuple[Expression, ...], Expression]


def symbolic_layout(
    env: ShapeEnv, tensor: Tensor, source: str, context: SymbolicContext | None
) -> Layout:
    """What stands for the sizes, strides and offset of a tensor that is read at `source`."""
    chosen = _context(env, tensor, context)
    if isinstance(chosen, SubclassSymbolicContext):
        for name, inner in chosen.inner_contexts.items():
            symbolic_layout(env, getattr(tensor, name), f"{source}.{name}", inner)
    make = _Maker(env, chosen)
    sizes = tuple(
        make.symbol(size, f"{source}.size({d})", kind, demanded)
        for d, (size, kind, demanded) in enumerate(
            zip(tensor.shape, chosen.dynamic_sizes, chosen.constraint_sizes or (), strict=True)
        )
    )
    strides = _strides(make, tensor, source, sizes)
    offset = tensor.storage_offset()
    kind = DimDynamic.DYNAMIC if offset else DimDynamic.STATIC
    return sizes, strides, make.symbol(offset, f"{source}.storage_offset()", kind, None)


def _context(
    env: ShapeEnv, tensor: Tensor, context: SymbolicContext | None
) -> StatelessSymbolicContext:
    if context is None:
        kind = DimDynamic.STATIC if env.settings.assume_static_by_default else DimDynamic.DUCK
        return StatelessSymbolicContext([kind] * tensor.dim())
    if not isinstance(context, StatelessSymbolicContext):
        raise TypeError(
            f"symbolic_context must be a StatelessSymbolicContext, got {type(context).__name__}"
        )
    if len(context.dynamic_sizes) != tensor.dim():
        raise ValueError(
            f"the context has {len(context.dynamic_sizes)} dimensions, the tensor {tensor.dim()}"
        )
    return context


class _Maker:
    """Makes symbols, or finds those that a context remembers."""

    def __init__(self, env: ShapeEnv, context: StatelessSymbolicContext) -> None:
        self.env, self.context = env, context

    def symbol(self, number: int, source: str, kind: DimDynamic, demanded: Any) -> Expression:
        """What stands for a number that is read at `source`."""
        known = self._known()
        if source not in known:
            known[source] = self.env.create_symbol(
                number, source, dynamic_dim=kind, constraint_dim=demanded
            )
        return known[source]

    def _known(self) -> dict[str, Expression]:
        if not isinstance(self.context, StatefulSymbolicContext):
            return {}
        return self.context.shape_env_to_source_to_symbol_cache.setdefault(self.env.serial, {})


def _strides(
    make: _Maker, tensor: Tensor, source: str, sizes: tuple[Expression, ...]
) -> tuple[Expression, ...]:
    """From the least: 1 and 0 are numbers, the product of a dimension's size and stride is the next
    one where it gives the number, and the rest have symbols.
    """
    numbers = tensor.stride()
    made: dict[int, Expression] = {}
    products: dict[int, Expression] = {1: constant(1), 0: constant(0)}
    context = make.context
    for d in sorted(range(tensor.dim()), key=lambda d: (numbers[d], -d)):
        kind, demanded = (context.dynamic_strides or ())[d], (context.constraint_strides or ())[d]
        if kind is DimDynamic.INFER_STRIDE and numbers[d] in products:
            made[d] = products[numbers[d]]
        else:
            kind = DimDynamic.DYNAMIC if kind is DimDynamic.INFER_STRIDE else kind
            made[d] = make.symbol(numbers[d], f"{source}.stride({d})", kind, demanded)
        products.setdefault(numbers[d] * tensor.shape[d], made[d] * sizes[d])
    return tuple(made[d] for d in range(tensor.dim()))
