"""`taeda.compile` on the stand-in driver: programs whose kernels are not loaded yet have their graphs."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
from taeda.nn import functional as F
def pair(x, w):
    return (x @ w).relu().sum(), (x * 2).exp()
def layouts(x, w):
    return (x * 3).t(), x.sum(0, keepdim=True).expand(5, -1) * w[0], x.softmax(-1)
def writes(x, w):
    y = x * 2
    y[1].mul_(w[0])
    y[:, ::2] += 1
    return y.tanh()
def images(x, w):
    return F.interpolate(x[None, None], size=(9, 3), mode="bilinear").square()
def gradients(f, x, w, tangents):
    x, w = (t.detach().requires_grad_() for t in (x, w))
    out = f(x, w)
    out = out if isinstance(out, tuple) else (out,)
    nodes = {type(o.grad_fn).__name__ for o in out}
    loss = sum((o * tangent(o, k)).sum() for k, (o, tangent) in enumerate(zip(out, tangents)))
    loss.backward()
    return [o.detach() for o in out] + [x.grad, w.grad], nodes
def numbers(o, shape):
    return taeda.arange(o.numel(), device=o.device).reshape(shape)
ways = (
    lambda o, k: k + 2,
    lambda o, k: numbers(o, o.shape),
    lambda o, k: numbers(o, o.shape[::-1]).permute(list(range(o.dim()))[::-1]),
)
taeda.manual_seed(0)
for f in (pair, layouts, writes, images):
    fast, seen = taeda.compile(f), set()
    for call in range(9):
        x, w = taeda.randn(5, 4, device="cuda"), taeda.randn(4, 4, device="cuda")
        tangents = [ways[call % 3]] * 3
        made, nodes = gradients(fast, x, w, tangents)
        wanted, _ = gradients(f, x, w, tangents)
        seen |= nodes
        for a, b in zip(made, wanted, strict=True):
            assert (a is None) == (b is None) and (a is None or taeda.equal(a, b)), (f, call)
            assert a is None or a.device.type == "cuda"
    assert "CompiledBackward" in seen, (f, seen)
"""


@pytest.mark.slow
@pytest.mark.parametrize("late", [False, True], ids=["at once", "late"])
def test_programs_whose_kernels_are_loaded_meanwhile_have_graphs(late, tmp_path):
    file = tmp_path / "program.py"  # compile reads the source of functions
    file.write_text(PROGRAM)
    start = f"import runpy; runpy.run_path({str(file)!r}, run_name='__main__')"
    standin.run(start, TAEDA_NULL_LATE=str(int(late)), TAEDA_CUDA_FALLBACK="")
