"""Samples on the stand-in driver: the processor's, by the same seed; what is drawn moves the one
generator on as far.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
from taeda.nn import functional as F
def same(f, what, *tensors):
    results = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda):
        taeda.manual_seed(3)
        made = f(*[move(t) for t in tensors])
        made = made if isinstance(made, (list, tuple)) else [made]
        assert all(t.device == move(tensors[0]).device for t in made), what
        results.append([*[t.cpu() for t in made], taeda.rand(3)])
    for a, b in zip(*results, strict=True):
        assert taeda.equal(a, b), (what, a, b)
def dropped(x):
    leaf = x.detach().requires_grad_()
    y = F.dropout(leaf, 0.3)
    (taeda.view_as_real(y) if y.is_complex() else y).sum().backward()
    return y.detach(), leaf.grad
for n in (1, 63, 64, 65, 1000):
    for dtype in (taeda.float32, taeda.float64, taeda.float16, taeda.bfloat16, taeda.complex64):
        same(dropped, ("dropout", n, dtype), taeda.ones(n, dtype=dtype))
same(lambda x: F.dropout(x.t(), 0.5), "strided", taeda.ones(9, 70))
same(lambda x: F.dropout(x, 1.0), "all", taeda.ones(9))
x = taeda.rand(40, 5)
for name, rest in (("uniform_", (-1, 2)), ("normal_", (1, 2)), ("exponential_", ()), ("cauchy_", ()),
        ("log_normal_", ()),
                   ("geometric_", (0.3,)), ("bernoulli_", (0.3,)), ("random_", (0, 9))):
    same(lambda x: getattr(x, name)(*rest), name, x)
    same(lambda x: getattr(x.t(), name)(*rest), (name, "strided"), x)
same(taeda.bernoulli, "bernoulli", x)
same(taeda.poisson, "poisson", x)
same(taeda.rand_like, "rand_like", x)
same(taeda.randn_like, "randn_like", x)
same(lambda x: taeda.randint_like(x, 9), "randint_like", x)
same(lambda x: taeda.normal(x, x), "normal", x)
for replacement in (False, True):
    same(lambda x: taeda.multinomial(x, 3, replacement), ("multinomial", replacement), x)
"""


@pytest.mark.slow
def test_samples_are_the_processors():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1")


GENERATOR = (
    standin.REFUSES
    + """
import pickle, taeda
made = taeda.Generator(device="cuda").manual_seed(3)
assert made.device == taeda.device("cuda", 0)
kept = pickle.loads(pickle.dumps(made))
copy = made.clone_state()
drawn = taeda.rand(9, device="cuda", generator=made).cpu()
assert taeda.equal(drawn, taeda.rand(9, generator=taeda.Generator().manual_seed(3)))
for other in (kept, copy, taeda.Generator("cpu").manual_seed(3)):
    assert taeda.equal(drawn, taeda.rand(9, device="cuda", generator=other).cpu())
assert kept.device == copy.device == made.device
refuses(RuntimeError, "'cpu' or 'cuda', got 'meta'", lambda: taeda.Generator("meta"))
refuses(RuntimeError, "cuda:5", lambda: taeda.Generator("cuda:5"))
"""
)


def test_a_generator_of_the_device_draws_what_one_of_the_processor_does():
    standin.run(GENERATOR)


def test_a_generator_wants_its_device_to_be_there():
    words = "refuses(RuntimeError, \"'cuda' is not available\", lambda: taeda.Generator('cuda'))"
    standin.run(f"{standin.REFUSES}import taeda\n{words}", TAEDA_LIBCUDA="/nowhere")
