"""Call operations of sparse, nested, masked and quantized tensors while another thread rewrites what they
are made of. No call may die.

    python tools/hunt/rewritten_kinds.py                      every kind with every call, 20 times each
    python tools/hunt/rewritten_kinds.py --kinds "csr|jagged"
    python tools/hunt/rewritten_kinds.py --calls 500          more
    python tools/hunt/rewritten_kinds.py --part 0/4           every fourth pair

A user shares the memory of indices, offsets, masks and scales. Constructors check them, and rules check them
again when somebody wrote into them; a thread may write between that check and the kernel.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
from fuzz_children import Note, Range, run_as_child, supervise
from outcomes import DOCUMENTED
from rewritten import rewriting, share

import taeda
from taeda import Tensor
from taeda._native import core

ROWS, COLUMNS, EACH = 2000, 2000, 10
LIMIT = 900.0  # seconds of a child
Call = Callable[[Tensor], Any]


def _coo() -> Tensor:
    places = taeda.randint(0, ROWS, (2, ROWS * EACH))
    return taeda.sparse_coo_tensor(places, taeda.rand(ROWS * EACH), (ROWS, COLUMNS))


def _ragged() -> Tensor:
    offsets = taeda.arange(0, ROWS + 1, EACH)
    return taeda.nested.nested_tensor_from_jagged(taeda.rand(ROWS, 2, 8), offsets)


KINDS: dict[str, Callable[[], Tensor]] = {
    "coo": lambda: _coo().coalesce(),
    "uncoalesced": _coo,
    "csr": lambda: _coo().to_sparse_csr(),
    "csc": lambda: _coo().to_sparse_csc(),
    "bsr": lambda: _coo().to_sparse_bsr((2, 2)),
    "bsc": lambda: _coo().to_sparse_bsc((2, 2)),
    "jagged": _ragged,
    "masked": lambda: taeda.masked.masked_tensor(
        taeda.rand(ROWS, EACH), taeda.rand(ROWS, EACH) > 0.5
    ),
    "quantized": lambda: taeda.quantize_per_channel(
        taeda.rand(ROWS, EACH),
        taeda.rand(ROWS),
        taeda.zeros(ROWS, dtype=taeda.int64),
        0,
        taeda.qint8,
    ),
}
DENSE = taeda.rand(COLUMNS, 16)
CALLS: dict[str, Call] = {
    "product": lambda x: x @ DENSE,
    "product from the left": lambda x: DENSE.t() @ x,
    "own product": lambda x: x @ x,
    "vector": lambda x: x @ DENSE[:, 0],
    "sampled": lambda x: taeda.sparse.sampled_addmm(x, DENSE, DENSE.t()),
    "reduced": lambda x: taeda.sparse.mm(x, DENSE, "amax"),
    "to_dense": lambda x: x.to_dense(),
    "coalesce": lambda x: x.coalesce(),
    "to_coo": lambda x: x.to_sparse(),
    "to_csr": lambda x: x.to_sparse_csr(),
    "to_csc": lambda x: x.to_sparse_csc(),
    "to_bsr": lambda x: x.to_sparse_bsr((2, 2)),
    "transpose": lambda x: x.transpose(0, 1) * 2,
    "softmax": lambda x: taeda.sparse.softmax(x, 1) if x.is_sparse else x.softmax(-1),
    "sum": lambda x: x.sum(1),
    "sparse sum": lambda x: taeda.sparse.sum(x, 0),
    "add": lambda x: x + x,
    "by dense": lambda x: x * taeda.ones(x.shape[-1]),
    "sin": lambda x: x.sin(),
    "row": lambda x: x[3],
    "rows": lambda x: x.index_select(0, taeda.tensor([1, 5, 1])),
    "mask": lambda x: x.sparse_mask(x),
    "cat": lambda x: taeda.cat([x, x]),
    "attention": lambda x: taeda.nn.functional.scaled_dot_product_attention(
        *[x.transpose(1, 2)] * 3
    ).sum(),
    "padded": lambda x: x.to_padded_tensor(0.0),
    "values": lambda x: x.values() * 2,
    "unbind": lambda x: [piece + 1 for piece in x.unbind()],
    "mean": lambda x: x.mean(-1),
    "plain": lambda x: x.to_tensor(0.0),
    "dequantize": lambda x: x.dequantize(),
    "gradient": lambda x: _gradient(x),
}


def _gradient(x: Tensor) -> None:
    leaf = x.detach().requires_grad_()
    made = leaf @ DENSE if leaf.dim() == 2 and leaf.layout is not taeda.jagged else leaf * 2
    made.sum().backward()


def _parts(x: Tensor) -> list[Tensor]:
    """What says which elements there are, and what they stand for."""
    named = dict(core.parts_of(x).named())
    return [
        part.detach() for name, part in named.items() if name not in ("values", "data", "integers")
    ]


def chosen(told: str) -> Sequence[tuple[str, str]]:
    """(kind, call) of a part whose names match, told as `0/1 csr`."""
    part, _, pattern = told.partition(" ")
    pairs = [(kind, call) for kind in KINDS for call in CALLS]
    return share([pair for pair in pairs if re.search(pattern, " ".join(pair))], part)


def race(kind: str, call: str, calls: int) -> str:
    """Whether the call gave results, or was refused each time."""
    x, done = KINDS[kind](), 0
    with rewriting(_parts(x)):
        for _ in range(calls):
            with contextlib.suppress(*DOCUMENTED, AttributeError):
                CALLS[call](x)
                done += 1
    return "some results" if done else "refused each time"


def cases(given: Range, note: Note) -> Iterator[tuple[str, Any]]:
    """Race the pairs of a range, in a child. The seed is the number of calls."""
    warnings.simplefilter("ignore")
    pairs = chosen(given.pattern)
    for number in range(given.first, given.first + given.count):
        kind, call = pairs[number]
        note(number, f"{call} of {kind}")
        yield race(kind, call, given.seed), None


def main(arguments: list[str] | None = None) -> int:
    """Race what the arguments ask for; 1 if a child died."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--kinds", default="", help="a regular expression, of a kind and a call")
    parser.add_argument("--calls", type=int, default=20, help="of each pair")
    parser.add_argument("--part", default="0/1", help="the first and the step of pairs")
    options: Any = parser.parse_args(arguments)
    told = f"{options.part} {options.kinds}"
    with tempfile.TemporaryDirectory() as folder:
        everything = Range(options.calls, 0, len(chosen(told)), told)
        outcome = supervise(__file__, everything, Path(folder), LIMIT)
    for death in outcome.deaths:
        print(f"{death.text}: {death.ending}", flush=True)
    print(f"{everything.count} pairs, {dict(outcome.counts)}, {len(outcome.deaths)} deaths")
    return 1 if outcome.deaths else 0


if __name__ == "__main__":
    sys.exit(0 if run_as_child(cases) else main())
