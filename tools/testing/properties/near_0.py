"""Near 0 a third derivative is one number, too, whichever mode takes its steps. A formula that divides by its
argument is right in the first derivative there, and loses all digits in the third.
"""

from __future__ import annotations

from collections.abc import Iterator

from outcomes import DOCUMENTED
from samples import Row, samples

from taeda import func

from .both_modes import _ONE_TRIANGLE, APART
from .orders import Tensors, differing, function, inner, numbers, walked

__all__ = ["faults"]

SIZE = 1e-9  # of the numbers of a sample, which are of about 1
MOST = 64  # numbers of one call: a third derivative takes some hundred steps
ALLOWED = 1e-5


def faults(row: Row, dtype: str, *, seed: int = 0, **sizes: int) -> Iterator[str]:
    """Every sample of the row in float64 that has a derivative, draws nothing and writes nothing."""
    if dtype != "float64" or row.schema.qualified in APART or row.random or row.family == "random":
        return
    half = any(word in row.schema.name for word in _ONE_TRIANGLE)
    for sample in samples(row, dtype, seed=seed, **sizes):
        if sum(t.numel() for t in sample.tensors()) > MOST or sample.written():
            continue
        f, given = function(sample)
        x = tuple(z * SIZE for z in given)
        try:
            plain = f(*x)
        except DOCUMENTED:
            continue  # not there
        if not x or not plain:
            continue
        s, t = (tuple(numbers(z, f"{k} {n}", half) for n, z in enumerate(x)) for k in "st")
        v = tuple(numbers(r, f"v {n}") for n, r in enumerate(plain))

        def thrice(f=f, x=x, s=s, t=t, v=v) -> float:
            z = tuple(y.detach().clone().requires_grad_() for y in x)
            return inner(walked(lambda *y: walked(lambda *w: walked(f, w, v), y, t), z, s), s)

        def ahead(f=f, x=x, s=s, t=t, v=v) -> float:
            def once(*y) -> Tensors:
                return func.jvp(f, y, t)[1]

            def twice(*y) -> Tensors:
                return func.jvp(once, y, s)[1]

            return inner(func.jvp(twice, x, s)[1], v)

        ways = {"backward three times": thrice, "forward three times": ahead}
        if said := differing(ways, ALLOWED):
            yield f"{sample} times {SIZE}: {said}"
