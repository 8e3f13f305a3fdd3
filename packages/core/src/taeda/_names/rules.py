"""What becomes of names in a call: the column `names` of the op table, word by word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import taeda
from taeda import Tensor

from .._layers.layout_rules import arguments_by_name, dimension, operator
from .._native import core as _core
from .dims import Names, _check_twice, names_of, unify

__all__ = ["RULES", "infer", "put"]

Given = dict[str, Any]


def _tensors(values: Any) -> Iterator[Tensor]:
    """The tensors among these, those of lists too."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _name(row: str) -> str:
    return row.partition(".")[0]


def _first(given: Given) -> Tensor:
    return next(_tensors(given.values()))


def _keep(row: str, given: Given) -> Names:
    """Those of the first tensor."""
    return names_of(_first(given))


def _unify(row: str, given: Given) -> Names:
    """Those of all tensors, as they broadcast."""
    joined: Names = ()
    for x in _tensors(given.values()):
        unsaid = row == "cat" and x.shape == (0,)  # counts for nothing there
        joined = joined if unsaid else unify(joined, names_of(x), _name(row))
    return joined


def _match(row: str, given: Given) -> Names:
    """Those of the first tensor, which the others have to match."""
    _unify(row, given)
    return _keep(row, given)


def _chosen(given: Given, rank: int) -> list[int]:
    """The dimensions that a call names, counted from 0; all of them if it names none."""
    dim = given.get("dim")
    some = [dim] if isinstance(dim, int) else list(dim or ())
    return [dimension(d, rank) for d in some] or list(range(rank))


def _drop(row: str, given: Given) -> Names:
    """Without the dimensions of the call, unless they stay with size 1."""
    names = _keep(row, given)
    if given.get("keepdim") or (row in ("any.dims", "all.dims") and given["dim"] == ()):
        return names
    gone = _chosen(given, len(names))
    return tuple(name for d, name in enumerate(names) if d not in gone)


def _squeeze(row: str, given: Given) -> Names:
    """Without those of the call that have size 1."""
    x = _first(given)
    gone = [d for d in _chosen(given, x.dim()) if x.dim() and x.shape[d] == 1]
    return tuple(name for d, name in enumerate(names_of(x)) if d not in gone)


def _product(a: Names, b: Names, row: str) -> Names:
    if len(b) < 2:
        return a[:-1]
    if len(a) < 2:
        return b[:-2] + b[-1:]
    return (*unify(a[:-2], b[:-2], _name(row)), a[-2], b[-1])


def _contract(row: str, given: Given) -> Names:
    """Without the dimensions over which a product sums; those of what is added go with the rest."""
    *added, a, b = (names_of(x) for x in _tensors(given.values()))
    made = _product(a, b, row)
    _check_twice(made)
    return unify(added[0], made, _name(row)) if added else made


def _permute(row: str, given: Given) -> Names:
    """As the dimensions go: read from a tensor without memory whose sizes say which dimension is which."""
    x = _first(given)
    ruler = taeda.empty(tuple(range(x.dim())), device="meta")
    values = [ruler if value is x else value for value in given.values()]
    moved = operator(row)(**dict(zip(given, values, strict=True)))
    return tuple(names_of(x)[size] for size in moved.shape)


def _expand(row: str, given: Given) -> Names:
    """New dimensions on the left have no name."""
    names = _keep(row, given)
    target = given["other"].shape if "other" in given else given["size"]
    return (None,) * (len(target) - len(names)) + names


def _add(row: str, given: Given) -> Names:
    """One dimension without a name more."""
    names = _keep(row, given)
    at = dimension(given["dim"], len(names) + 1)
    return (*names[:at], None, *names[at:])


def _select(row: str, given: Given) -> Names:
    """One dimension without a name, of tensors that match."""
    _unify(row, given)
    return (None,)


def _none(row: str, given: Given) -> Names:
    """A result without dimensions."""
    return ()


RULES: dict[str, Callable[[str, Given], Names]] = {
    "KEEP": _keep,
    "MATCH": _match,
    "UNIFY": _unify,
    "DROP": _drop,
    "SQUEEZE": _squeeze,
    "CONTRACT": _contract,
    "PERMUTE": _permute,
    "EXPAND": _expand,
    "ADD": _add,
    "SELECT": _select,
    "NONE": _none,
}


def _refuse(row: str) -> NoReturn:
    raise RuntimeError(
        f"{_name(row)}: this operator does not carry names of dimensions. Take them away by "
        "tensor.rename(None), call it, and name the dimensions of its result by refine_names()"
    )


def _refuse_parts(row: str, values: Sequence[Any]) -> None:
    """RuntimeError if one of the tensors cannot have names, as the results could not either."""
    for x in _tensors(values):
        if x.layout is not taeda.strided or _core.parts_of(x) is not None:
            raise RuntimeError(
                f"{_name(row)}: a tensor whose dimensions have names came beside a {type(x).__name__} of "
                f"layout {x.layout}, which has none. Take them away by tensor.rename(None)"
            )


def infer(row: str, word: str, args: Sequence[Any], in_place: bool, out: Any) -> Names | None:
    """The names of the results of a call that has not run yet, or None for no names."""
    rule = RULES.get(word) or _refuse(row)
    _refuse_parts(row, [*args, out])
    names = rule(row, arguments_by_name(row, args))
    if in_place and word == "UNIFY" and len(names) != len(names_of(args[0])):
        return _core.names_of(args[0])  # the call refuses these shapes
    for target in _tensors([out]):
        own = _core.names_of(target)
        if own is not None and own != names:
            raise RuntimeError(
                f"{_name(row)}: out= has the names {list(own)}, and the result {list(names)}. Give a "
                "tensor without names, or take them away by rename_(None)"
            )
    return names if any(names) else None


def put(made: Any, names: Names | None, args: Sequence[Any], written: bool) -> Any:
    """The results of a call with these names."""
    own = not written and any(made is x for x in _tensors(args))
    if own and _core.names_of(made) != names:
        made = taeda.ops.aten.alias.default(made)  # an argument keeps its names
    for x in _tensors([made]):
        if names is not None and len(names) != x.dim():
            raise RuntimeError(
                f"a rule says {list(names)} of a result with {x.dim()} dimensions: please report it"
            )
        _core.set_names(x, names)
    return made
