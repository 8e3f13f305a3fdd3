"""Products of matrices and what is written by letters: a letter is a dimension that may be cut.

`"mk,kn->mn"`: a letter of the result cuts the result, and one that it has not (`k`) leaves terms of
a sum. Each of the tensors alone may be terms, as products are linear in each.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..placement_types import Partial, Placement, Replicate, Shard
from ._call import Call, Made, Strategy, rule

__all__ = ["factors"]

R, P = Replicate(), Partial()

LETTERS = {
    "mm": "mk,kn->mn",
    "_int_mm": "mk,kn->mn",
    "bmm": "bmk,bkn->bmn",
    "mv": "mk,k->m",
    "dot": "k,k->",
}


def factors(call: Call, letters: str) -> Iterator[Strategy]:
    """The strategies of a row that letters describe."""
    terms, _, result = letters.partition("->")
    ins = terms.split(",")
    for letter in dict.fromkeys("".join(ins)):
        placed: list[Placement | None] = [
            Shard(term.index(letter)) if letter in term else R for term in ins
        ]
        yield Strategy(tuple(placed), (Shard(result.index(letter)) if letter in result else P,))
    if call.row != "_int_mm":
        for place in range(len(ins)):
            placed = [P if other == place else R for other in range(len(ins))]
            yield Strategy(tuple(placed), (P,))


@rule(*LETTERS)
def products(call: Call) -> Iterator[Strategy]:
    """By the letters of the row."""
    yield from factors(call, LETTERS[call.name])


@rule("addmm", "addmv", "baddbmm")
def added(call: Call) -> Iterator[Strategy]:
    """A product and what is added to it, which may be broadcast; added on one rank of a sum."""
    names, letters = {
        "addmm": (("mat1", "mat2"), "mk,kn->mn"),
        "addmv": (("mat", "vec"), "mk,k->m"),
        "baddbmm": (("batch1", "batch2"), "bmk,bkn->bmn"),
    }[call.name]
    out, bias = call.outs[0] or (), call.values[0]
    for one in factors(call, letters):
        place = one.outs[0]
        like: Placement = place or R
        if isinstance(place, Shard):
            at = place.dim - (len(out) - bias.ndim)
            like = Shard(at) if at >= 0 and bias.shape[at] == out[place.dim] else R
        elif isinstance(place, Partial):
            like = P
        yield call.strategy(
            {"self": like, names[0]: one.ins[0] or R, names[1]: one.ins[1] or R}, place
        )


@rule("convolution")
def convolution(call: Call) -> Iterator[Strategy]:
    """The batch; channels of the result, or terms by channels of the input, in one group."""
    if call.values[0].ndim != call.values[1].ndim:
        return
    yield call.strategy({"input": Shard(0)}, Shard(0))
    if call["groups"] == 1:
        out, into = (1, 0) if call["transposed"] else (0, 1)
        yield call.strategy({"weight": Shard(out), "bias": Shard(0)}, Shard(1))
        yield call.strategy({"input": Shard(1), "weight": Shard(into), "bias": P}, P)


@rule("convolution_backward")
def convolution_backward(call: Call) -> Iterator[Strategy]:
    """The batch: terms of the weights' gradients."""
    yield call.strategy({"grad_output": Shard(0), "input": Shard(0)}, (Shard(0), P, P))
    if call["groups"] == 1:
        out, into = (1, 0) if call["transposed"] else (0, 1)
        yield call.strategy(
            {"grad_output": Shard(1), "weight": Shard(out)}, (P, Shard(out), Shard(0))
        )
        if call.outs[2] is None:
            yield call.strategy(
                {"input": Shard(1), "weight": Shard(into)}, (Shard(1), Shard(into), None)
            )


@rule("_fused_attention")
def attention(call: Call) -> Iterator[Strategy]:
    """Batches and heads."""
    yield from _heads(call, ("query", "key", "value"), (Shard, Shard))


@rule("_fused_attention_backward")
def attention_backward(call: Call) -> Iterator[Strategy]:
    """Batches and heads."""
    names = ("grad", "query", "key", "value", "output", "logsumexp")
    yield from _heads(call, names, (Shard, Shard, Shard))


def _heads(call: Call, names: tuple[str, ...], outs: tuple[type, ...]) -> Iterator[Strategy]:
    shapes = [call[name].shape for name in names]
    for dim in range(len(shapes[0]) - 2):
        if len({shape[dim] for shape in shapes}) > 1:
            continue  # heads that several queries share
        ins: dict[str, Placement] = {name: Shard(dim) for name in names}
        if call.has("attn_mask"):
            mask = call["attn_mask"]
            place = dim - (len(shapes[0]) - mask.ndim)
            ins["attn_mask"] = Shard(place) if place >= 0 and mask.shape[place] != 1 else R
        yield call.strategy(ins, [kind(dim) for kind in outs])


@rule("embedding")
def embedding(call: Call) -> Iterator[Strategy]:
    """Dimensions of the indices; columns of the table; its rows, of which each rank gives its own."""
    indices = call["indices"]
    for dim in range(indices.ndim):
        yield call.strategy({"indices": Shard(dim)}, Shard(dim))
    yield call.strategy({"weight": Shard(1)}, Shard(indices.ndim))
    yield call.strategy({"weight": Shard(0)}, P, fn=_own_rows)


def _own_rows(made: Made) -> object:
    """Rows that this rank has, and zeros for the others'."""
    (begin, _), (count, _) = made.spec("weight").box
    indices = made.args["indices"] - begin
    others = (indices < 0) | (indices >= count)
    if not count:
        return made.args["weight"].new_zeros(*indices.shape, made.args["weight"].shape[1])
    found = made.run(indices=indices.masked_fill(others, 0), padding_idx=-1)
    return found.masked_fill(others.unsqueeze(-1), 0)


@rule("embedding_dense_backward")
def embedding_backward(call: Call) -> Iterator[Strategy]:
    """Columns; rows of the table; terms by the indices, unless rows are divided by their counts."""
    indices = call["indices"]
    if not call["scale_grad_by_freq"]:
        for dim in range(indices.ndim):
            yield call.strategy({"grad_output": Shard(dim), "indices": Shard(dim)}, P)
    yield call.strategy({"grad_output": Shard(indices.ndim)}, Shard(1))
    yield call.strategy({"grad_output": P}, P)
    yield call.strategy({}, Shard(0), fn=_gradient_of_own_rows)


def _gradient_of_own_rows(made: Made) -> object:
    spec = made.outs[0]
    assert spec is not None
    (begin, _), (count, _) = spec.box
    indices = made.args["indices"]
    padding = made.args["padding_idx"]
    others = (indices < begin) | (indices >= begin + count)
    if padding >= 0:
        others = others | (indices == padding)
    # one row more takes what is not this rank's
    moved = (indices - begin).masked_fill(others, count)
    grown = made.run(indices=moved, num_weights=count + 1, padding_idx=-1)
    return grown[:count].contiguous()


@rule("_euclidean_dist", "_row_distances")
def distances(call: Call) -> Iterator[Strategy]:
    """Rows of either side, and equal batches."""
    a, b = call["x1"], call["x2"]
    if a.ndim == b.ndim:
        for dim in range(a.ndim - 2):
            if a.shape[dim] == b.shape[dim]:
                yield call.strategy({"x1": Shard(dim), "x2": Shard(dim)}, Shard(dim))
        yield call.strategy({"x1": Shard(a.ndim - 2)}, Shard(a.ndim - 2))
        yield call.strategy({"x2": Shard(b.ndim - 2)}, Shard(a.ndim - 1))
