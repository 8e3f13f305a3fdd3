"""einsum: reading the equation, then contracting operands pair by pair.

A label is a letter, or a negative number for a dimension that an ellipsis stands for: -1 the last of them,
so that ellipses of different lengths broadcast from the right.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import taeda
from taeda import Tensor

Label = str | int


@dataclass
class _Operand:
    """A tensor and a label for each of its dimensions, no label twice."""

    tensor: Tensor
    labels: list[Label]


def einsum(equation: str, tensors: Sequence[Tensor]) -> Tensor:
    """Multiply the operands and sum over every label that is not in the output.

    RuntimeError if the equation does not fit the operands: it names the operand, label and sizes.
    """
    inputs, output = _parse(equation, tuple(t.dim() for t in tensors))
    sizes = _sizes(inputs, tensors)
    for label in output:
        if label not in sizes:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any input operand"
            )
    operands = [_prepare(t, labels, sizes) for t, labels in zip(tensors, inputs, strict=True)]
    while len(operands) > 1:
        _contract_cheapest(operands, output, sizes)
    made = operands[0]
    if made.labels == output and len(tensors) > 1:
        return made.tensor
    return _finish(made, output)


# ---- the equation ----


@functools.lru_cache(256)  # what a program repeats; its results are only read
def _parse(equation: str, ranks: tuple[int, ...]) -> tuple[list[list[Label]], list[Label]]:
    if not ranks:
        raise RuntimeError("einsum(): must provide at least one operand")
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise RuntimeError(
            f"einsum(): the equation has subscripts for {len(terms)} operands, but {len(ranks)} were given"
        )
    inputs = [_term(term, i, rank) for i, (term, rank) in enumerate(zip(terms, ranks, strict=True))]
    covered = max(
        (-label for labels in inputs for label in labels if isinstance(label, int)), default=0
    )
    if arrow:
        return inputs, _explicit_output(right, covered)
    counts = Counter(label for labels in inputs for label in labels if isinstance(label, str))
    once = sorted(label for label, n in counts.items() if n == 1)
    return inputs, [*range(-covered, 0), *once]


def _letters(term: str, where: str) -> tuple[str, str | None]:
    """What stands before and after the ellipsis; the second is None if there is none."""
    before, dots, after = term.partition("...")
    for ch in before + after:
        if not (ch.isascii() and ch.isalpha()):
            raise RuntimeError(
                f"einsum(): invalid subscript given for {where}: {ch!r} in {term!r}; "
                f"subscripts are letters, '...' may stand once"
            )
    return before, after if dots else None


def _term(term: str, index: int, rank: int) -> list[Label]:
    before, after = _letters(term, f"operand {index}")
    named = len(before) + len(after or "")
    if named > rank or (after is None and named < rank):
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({named}) does not match the number of "
            f"dimensions ({rank}) of operand {index}"
            + ("" if named > rank else ", and no ellipsis was given")
        )
    if after is None:
        return list(before)
    return [*before, *range(named - rank, 0), *after]


def _explicit_output(term: str, covered: int) -> list[Label]:
    before, after = _letters(term, "the output")
    output: list[Label] = [*before] if after is None else [*before, *range(-covered, 0), *after]
    for label, n in Counter(output).items():
        if n > 1:
            raise RuntimeError(
                f"einsum(): output subscript {label} appears more than once in the output"
            )
    return output


def _sizes(inputs: list[list[Label]], tensors: Sequence[Tensor]) -> dict[Label, int]:
    """The size of each label; 1 broadcasts."""
    sizes: dict[Label, int] = {}
    for i, (labels, t) in enumerate(zip(inputs, tensors, strict=True)):
        for label, size in zip(labels, t.shape, strict=True):
            known = sizes.setdefault(label, size)
            if known == 1:
                sizes[label] = size
            elif size not in (1, known):
                what = (
                    f"subscript {label}"
                    if isinstance(label, str)
                    else "a dimension of the ellipsis"
                )
                raise RuntimeError(
                    f"einsum(): operands do not broadcast with remapped shapes: {what} has size {size} in "
                    f"operand {i}, which does not broadcast with previously seen size {known}"
                )
    return sizes


# ---- single operands ----


def _prepare(t: Tensor, labels: list[Label], sizes: dict[Label, int]) -> _Operand:
    """Repeated labels become a diagonal; a size 1 that broadcasts is left out."""
    labels = list(labels)
    repeated = len(set(labels)) < len(labels)
    for label in [k for k, n in Counter(labels).items() if n > 1] if repeated else ():
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            if t.shape[i] != t.shape[j]:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for an operand, but the sizes don't match: "
                    f"{t.shape[i]} and {t.shape[j]}"
                )
            t = t.diagonal(0, i, j)
            del labels[j], labels[i]
            labels.append(label)
    ones = [d for d, size in enumerate(t.shape) if size == 1]
    for d in reversed(ones):
        if sizes[labels[d]] != 1:
            t = t.squeeze(d)
            del labels[d]
    return _Operand(t, labels)


def _sum_out(x: _Operand, keep: set[Label]) -> _Operand:
    gone = [d for d, label in enumerate(x.labels) if label not in keep]
    if not gone:
        return x
    return _Operand(x.tensor.sum(gone), [label for label in x.labels if label in keep])


def _finish(x: _Operand, output: list[Label]) -> Tensor:
    x = _sum_out(x, set(output))
    return x.tensor.permute([x.labels.index(label) for label in output])


# ---- pairs ----


def _contract_cheapest(
    operands: list[_Operand], output: list[Label], sizes: dict[Label, int]
) -> None:
    """Replace the two operands with the fewest multiplications by their contraction."""

    if len(operands) == 2:
        operands[:] = [_contract(operands[0], operands[1], {*output}, output)]
        return

    def cost(pair: tuple[int, int]) -> int:
        return math.prod(sizes[k] for k in {*operands[pair[0]].labels, *operands[pair[1]].labels})

    pairs = [(i, j) for j in range(len(operands)) for i in range(j)]
    i, j = min(pairs, key=cost)
    right, left = operands.pop(j), operands.pop(i)
    later = {label for x in operands for label in x.labels}
    operands.insert(i, _contract(left, right, {*output, *later}, []))


def _contract(a: _Operand, b: _Operand, keep: set[Label], wanted: list[Label]) -> _Operand:
    """Contract two operands; `wanted` is the order in which the result's labels would be best."""
    a = _sum_out(a, keep.union(b.labels))
    b = _sum_out(b, keep.union(a.labels))
    shared = [label for label in a.labels if label in b.labels]
    summed = [label for label in shared if label not in keep]
    if not summed:
        return _multiply(a, b, wanted)
    if _first(a, b, wanted) is b:
        a, b = b, a
    batch = _ordered([label for label in shared if label in keep], wanted)
    rows = _ordered([label for label in a.labels if label not in shared], wanted)
    columns = _ordered([label for label in b.labels if label not in shared], wanted)
    left = _as_matrices(a, batch, rows, summed)
    right = _as_matrices(b, batch, summed, columns)
    product = taeda.matmul(left, right)
    size = dict(zip(a.labels, a.tensor.shape, strict=True)) | dict(
        zip(b.labels, b.tensor.shape, strict=True)
    )
    labels = [*batch, *rows, *columns]
    return _Operand(product.reshape([size[label] for label in labels]), labels)


def _ordered(labels: list[Label], wanted: list[Label]) -> list[Label]:
    if len(labels) < 2 or labels == wanted:
        return labels
    return sorted(labels, key=lambda k: wanted.index(k) if k in wanted else -1)


def _first(a: _Operand, b: _Operand, wanted: list[Label]) -> _Operand:
    """Whose own labels come first in the wanted order: the result then needs no permutation."""
    for label in wanted:
        if (label in a.labels) != (label in b.labels):
            return a if label in a.labels else b
    return a


def _multiply(a: _Operand, b: _Operand, wanted: list[Label]) -> _Operand:
    """Nothing to sum: an elementwise product of views."""
    labels = _ordered(list(dict.fromkeys([*a.labels, *b.labels])), wanted)
    return _Operand(_spread(a, labels) * _spread(b, labels), labels)


def _spread(x: _Operand, labels: list[Label]) -> Tensor:
    """The dimensions in the order of `labels`, size 1 for others; those before the first are left out."""
    own = [label for label in labels if label in x.labels]
    view = x.tensor
    if own != x.labels:
        view = view.permute([x.labels.index(label) for label in own])
    first = labels.index(own[0]) if own else len(labels)
    for d, label in enumerate(labels[first:]):
        if label not in own:
            view = view.unsqueeze(d)
    return view


def _as_matrices(
    x: _Operand, batch: list[Label], rows: list[Label], columns: list[Label]
) -> Tensor:
    """Batch dimensions, then rows and columns merged to one dimension each, by views where strides allow."""
    view = x.tensor.permute([x.labels.index(label) for label in (*batch, *rows, *columns)])
    if len(rows) == 1 and len(columns) == 1:
        return view
    sizes, n, m = list(view.shape), len(batch), len(rows)
    return view.reshape([*sizes[:n], math.prod(sizes[n : n + m]), math.prod(sizes[n + m :])])
