"""Reductions on the stand-in driver add in the processor's order: the same bits, whatever the shape."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

SAME = """
def same(made, wanted, what):
    if isinstance(wanted, tuple):
        return [same(*pair, what) for pair in zip(made, wanted, strict=True)]
    back = made.cpu()
    equal = (back == wanted) | ((back != back) & (wanted != wanted))
    assert equal.all(), (what, int((~equal).sum()), back.flatten()[:3], wanted.flatten()[:3])
"""
PROGRAM = (
    SAME.replace("{", "{{").replace("}", "}}")
    + """
import taeda
taeda.manual_seed(0)
norm = taeda.linalg.vector_norm
FLOATS = {{
    "sum": lambda t, d: t.sum(d), "mean": lambda t, d: t.mean(d), "amax": lambda t, d: t.amax(d),
    "var": lambda t, d: t.var(d),
    "argmax": lambda t, d: t.argmax(d), "min": lambda t, d: tuple(t.min(d)),
    "norm": lambda t, d: norm(t, dim=d),
    "any": lambda t, d: (t > 2).any(d), "double": lambda t, d: t.double().sum(d),
    "bfloat16": lambda t, d: t.bfloat16().sum(d),
    "bfloat16 amax": lambda t, d: t.bfloat16().amax(d),
    "float16 amin": lambda t, d: t.half().amin(d),
    "bfloat16 norm": lambda t, d: norm(t.bfloat16(), dim=d),
    "int": lambda t, d: (t * 100).int().sum(d),
}}
MORE = {{
    "nansum": lambda t, d: t.nansum(d), "std": lambda t, d: t.double().std(d),
    "half": lambda t, d: t.half().sum(d),
    "complex prod": lambda t, d: taeda.complex(t, t.flip(d)).prod(d),
    "complex128 prod": lambda t, d: taeda.complex(t, -t).cdouble().prod(d),
    "prod": lambda t, d: t.prod(d), "all": lambda t, d: (t > -2).all(d),
    "norm1": lambda t, d: norm(t, 1, dim=d),
    "norm3": lambda t, d: norm(t, 3, dim=d), "inf": lambda t, d: norm(t, float("inf"), dim=d),
    "count": lambda t, d: taeda.count_nonzero(t > 0, d), "max": lambda t, d: tuple((t * 3).int().max(d)),
}}
SHAPES = [((4, n), 1) for n in {lengths}] + [((n, 4), 0) for n in {lengths}]
SHAPES += [((3, 70000), 1), ((200000,), 0), ((7, 11, 13), 1), ((33, 3000), 0)]
for shape, dim in SHAPES:
    x = taeda.randn(*shape)
    x.flatten()[::97] = 0.5
    for name, f in {{**FLOATS, **(MORE if {more} else {{}})}}.items():
        same(f(x.cuda(), dim), f(x, dim), (name, shape, dim))
x = taeda.tensor([[1.0, float("nan"), 3.0], [2.0, 2.0, 1.0]])
same(tuple(x.cuda().max(1)), tuple(x.max(1)), "nan")
x = taeda.randn(50, 60)
same(x.cuda().t().sum(1), x.t().sum(1), "turned")
same(x.cuda()[:, ::2].sum(1), x[:, ::2].sum(1), "every second")
same(taeda.randn(7, 11, 13).cuda().sum().reshape(1) * 0, taeda.zeros(1), "all")
"""
)
# squares leave the range of the numbers long before their root does: those blocks are read again
EXTREMES = (
    SAME
    + """
import taeda
taeda.manual_seed(0)
norm = taeda.linalg.vector_norm
SIZES = {"float32": (1e-30, 1e30, 1e-40), "float64": (1e-200, 1e200, 1e-310), "bfloat16": (1e-30, 1e30)}
for dtype, sizes in SIZES.items():
    for size in sizes:
        for shape, dim in (((3, 9001), 1), ((9001, 5), 0), ((3, 11), 1), ((200000,), 0)):
            x = (taeda.randn(*shape, dtype=taeda.float64) * size).to(getattr(taeda, dtype))
            flat = x.flatten()
            for what in ("as drawn", "one ordinary", "infinite", "equal"):
                if what == "one ordinary":
                    flat[-1] = 1.5
                elif what == "infinite":
                    flat[0] = float("inf")
                elif what == "equal":
                    x = taeda.full_like(x, size)
                told = (dtype, size, shape, what)
                if dtype != "float64":  # whose norms a device does not find again, as docs/cuda.md says
                    same(norm(x.cuda(), dim=dim), norm(x, dim=dim), told)
                if dtype != "bfloat16":
                    same(x.cuda().std(dim), x.std(dim), told)
                    same(tuple(taeda.var_mean(x.cuda(), dim)), tuple(taeda.var_mean(x, dim)), told)
"""
)
# few outputs of much: pieces and their parts by many blocks, columns in tiles
SPREAD = (
    SAME
    + """
import taeda
taeda.manual_seed(0)
norm = taeda.linalg.vector_norm
ANY = {
    "sum": lambda t, d: t.sum(d), "var": lambda t, d: t.var(d), "double": lambda t, d: t.double().std(d),
    "amax": lambda t, d: t.amax(d), "amin": lambda t, d: t.bfloat16().amin(d),
    "norm": lambda t, d: norm(t, dim=d), "half amax": lambda t, d: t.half().amax(d),
    "half": lambda t, d: t.half().sum(d), "int": lambda t, d: (t * 100).int().sum(d),
    "norm1": lambda t, d: norm(t.double(), 1, dim=d), "norm3": lambda t, d: norm(t, 3, dim=d),
}
ONE = {
    "argmin": lambda t, d: t.argmin(d), "prod": lambda t, d: (t * 1.2).prod(d),
    "max": lambda t, d: tuple(t.max(d)),
    "any": lambda t, d: (t > 4).any(d), "nansum": lambda t, d: t.nansum(d),
}
SHAPES = ((600_000,), 0), ((7, 3, 700), (0, 2)), ((5003, 40), 0), ((2, 90_011), 1), ((70, 2, 33), 0)
for shape, dim in SHAPES:
    x = taeda.randn(*shape)
    x.flatten()[::2] *= 0  # zeros of both signs: which one is an extremum depends on the lane
    for name, f in {**ANY, **(ONE if isinstance(dim, int) else {})}.items():
        same(f(x.cuda(), dim), f(x, dim), (name, shape, dim))
        made, wanted = f(x.cuda(), dim), f(x, dim)
        if isinstance(made, taeda.Tensor) and made.is_floating_point():
            same(made.signbit(), wanted.signbit(), (name, shape, "sign"))
    x.flatten()[x.numel() * 2 // 3] = float("nan")
    same(x.cuda().amax(dim), x.amax(dim), (shape, "nan"))
"""
)


@pytest.mark.slow
@pytest.mark.parametrize("late", [False, True], ids=["at once", "late"])
def test_reductions_have_the_processors_bits(late):
    program = PROGRAM.format(lengths=[1, 12, 13, 65, 511, 700, 9001], more=False)
    standin.run(program, TAEDA_NULL_LATE=str(int(late)), TAEDA_NULL_PROTECT="0")


@pytest.mark.slow
def test_the_other_reductions_too():
    standin.run(PROGRAM.format(lengths=[3, 64, 512], more=True), TAEDA_NULL_PROTECT="0")


@pytest.mark.slow
def test_numbers_at_the_ends_of_their_range_have_the_processors_bits():
    standin.run(EXTREMES, TAEDA_NULL_PROTECT="0")


@pytest.mark.slow
def test_few_outputs_of_much_have_the_processors_bits():
    standin.run(SPREAD, TAEDA_NULL_PROTECT="0")
