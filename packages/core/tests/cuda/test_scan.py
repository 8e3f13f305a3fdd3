"""Running results and triangles on the stand-in driver: the processor's bits and places, whatever
the length of a line.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
taeda.manual_seed(0)
def same(f, what, x):
    results = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda):
        made = f(move(x))
        made = made if isinstance(made, tuple) else (made,)
        assert all(t.device == move(x).device for t in made), what
        results.append([t.cpu() for t in made])
    for a, b in zip(*results, strict=True):
        assert ((a == b) | ((a != a) & (b != b))).all(), (what, a, b)
for shape, dim in (
    ((7,), 0),
    ((33,), 0),
    ((3, 32), 1),
    ((3, 1000), 1),
    ((50, 6), 0),
    ((4, 5, 6), 1),
    ((), 0),
    ((0, 3), 0),
):
    for dtype in (taeda.float32, taeda.float64, taeda.bfloat16, taeda.int64, taeda.uint8):
        x = (taeda.randn(shape) * 3).abs().to(dtype)
        for name in ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"):
            if name != "logcumsumexp" or dtype.is_floating_point:
                same(
                    lambda x: (
                        tuple(made) if isinstance(made := getattr(x, name)(dim), tuple) else made
                    ),
                    (name, shape, dtype),
                    x,
                )
for dtype in (taeda.float32, taeda.float64):  # pieces
    same(lambda x: x.cumsum(0), ("long", dtype), taeda.randn(200001).to(dtype))
x = taeda.tensor([1.0, float("nan"), 3.0, -float("inf")])
for name in ("cumsum", "cummax", "cummin", "logcumsumexp"):
    same(
        lambda x: tuple(made) if isinstance(made := getattr(x, name)(0), tuple) else made,
        ("special", name),
        x,
    )
same(lambda x: x.cumsum(1), "complex", taeda.randn(3, 40, dtype=taeda.complex64))
for shape in ((5, 5), (2, 3, 7), (4, 0)):
    for dtype in (taeda.bool, taeda.bfloat16, taeda.float32, taeda.int64, taeda.complex128):
        x = taeda.randn(*shape).to(dtype)
        for diagonal in (-9, -1, 0, 2):
            same(lambda x: x.tril(diagonal), ("tril", shape, dtype, diagonal), x)
            same(lambda x: x.triu(diagonal), ("triu", shape, dtype, diagonal), x)
same(taeda.diag_embed, "diag_embed", taeda.randn(3, 4))
inf, nan = float("inf"), float("nan")
parts = taeda.tensor([0.0, -0.0, 1.0, -2.0, inf, -inf, nan])
every = taeda.complex(parts[:, None].expand(7, 7), parts.expand(7, 7)).reshape(-1)
pairs = taeda.stack([every.repeat_interleave(49), every.repeat(49)], 1)
for dtype in (taeda.complex64, taeda.complex128):
    for x in (taeda.randn(3, 40, dtype=dtype), taeda.randn(40, 3, dtype=dtype).t(), pairs.to(dtype)):
        a, b = x.cumprod(1), x.cuda().cumprod(1).cpu()
        for one, other in ((a.real, b.real), (a.imag, b.imag)):
            assert ((one == other) | ((one != one) & (other != other))).all(), dtype
    x = taeda.randn(3, 40, dtype=dtype)
    tight = 1e-6 if dtype == taeda.complex64 else 1e-14
    close = taeda.allclose(x.cuda().logcumsumexp(1).cpu(), x.logcumsumexp(1), rtol=tight, atol=tight)
    assert close, dtype
"""


@pytest.mark.slow
def test_scans_have_the_processors_bits():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")
