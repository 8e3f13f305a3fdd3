"""Indexing on the stand-in driver: the processor's bits, where one place is named many times, too;
bad indices are told as on the processor.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
taeda.manual_seed(0)
def same(f, what, *tensors):
    wanted, made = f(*[t.clone() for t in tensors]), f(*[t.cuda() for t in tensors])
    assert made.device.type == "cuda" and taeda.equal(made.cpu(), wanted), (what, wanted, made)
def refused(f, *tensors):
    words = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda):
        try:
            f(*[move(t) for t in tensors])
            taeda.cuda.synchronize()  # the device looks at indices: a wait raises
        except (IndexError, RuntimeError) as error:
            words.append((type(error), str(error)))
    assert len(words) == 2 and words[0][0] is words[1][0] and words[1][1].startswith(words[0][1]), words

few = taeda.randint(0, 4, (300,))  # every place many times: the order of additions shows
for dtype in (taeda.float32, taeda.bfloat16, taeda.float64, taeda.int32):
    x, rows = (taeda.randn(4, 7) * 9).to(dtype), (taeda.randn(300, 7) * 9).to(dtype)
    same(lambda x, i: x[i], "index", x, few)
    same(lambda x, i: x[:, i % 7], "columns", x, few)
    same(lambda x, i: x.t()[i % 7, i], "two", x, few)
    same(lambda x, r, i: x.index_put((i,), r, accumulate=True), "index_put", x, rows, few)
    same(lambda x, r, i: x.index_put((i,), r), "the last one stays", x, rows, few)
    same(lambda x, r, i: x.index_add(0, i, r, alpha=2), "index_add", x, rows, few)
    same(lambda x, r, i: x.t().index_add(1, i, r.t()), "index_add of a view", x, rows, few)
    wide = few.unsqueeze(1).expand(300, 7)
    same(lambda x, r, i: x.scatter_add(0, i, r), "scatter_add", x, rows, wide)
    same(lambda x, i: x.gather(0, i), "gather", x, wide)
    for reduce in ("sum", "prod", "amax", "amin", "mean"):
        small = rows.clamp(-2, 2)
        same(lambda x, r, i: x.scatter_reduce(0, i, r, reduce, include_self=False), reduce, x, small, wide)
    same(lambda x: x[x > 0], "mask", x)
    same(lambda x: x.masked_fill(x > 0, 3), "masked_fill", x)
    same(lambda x, r: x.masked_scatter(x > 0, r), "masked_scatter", x, rows)
    same(lambda x: x.nonzero(), "nonzero", x)
x, rows = taeda.randn(4, 7, dtype=taeda.complex64), taeda.randn(300, 7, dtype=taeda.complex64)
for own in (False, True):
    same(lambda x, r, i: x.index_reduce(0, i, r, "mean", include_self=own), "mean", x, rows, few)
weight, words = taeda.randn(9, 5), taeda.randint(0, 9, (6, 40))
def step(weight, words, dtype=taeda.float32, often=False):
    weight = weight.to(dtype, copy=True).requires_grad_()
    made = taeda.nn.functional.embedding(words, weight, padding_idx=3, scale_grad_by_freq=often)
    made.square().sum().backward()
    return weight.grad
same(step, "embedding", weight, words)
for dtype in (taeda.float32, taeda.float64, taeda.bfloat16):
    same(lambda w, i: step(w, i, dtype, True), "embedding by frequency", weight, words)
    same(lambda w, i: step(w, i, dtype, True), "no words", weight, words[:0])
for dtype in (taeda.complex64, taeda.complex128):  # a quotient by a count goes as any other of the dtype
    rows = taeda.randn(7, 6, dtype=dtype)
    same(lambda g, i: taeda.embedding_dense_backward(g, i, 5, 1, True), "by frequency", rows, few[:7])
refused(lambda x, i: x[i], weight, taeda.tensor([1, 9]))
refused(lambda x, i: x.gather(0, i), weight, taeda.full((2, 2), 9))
refused(lambda x, i: x.scatter(0, i, 1.0), weight, taeda.full((2, 2), -1))
refused(lambda x, i: x.index_select(0, i), weight, taeda.tensor([-1]))
refused(lambda x, m: x.masked_scatter(m, x[:1]), weight, taeda.ones(9, 5, dtype=taeda.bool))
"""


@pytest.mark.slow
@pytest.mark.parametrize("late", [False, True], ids=["at once", "late"])
def test_indexing_has_the_processors_bits_and_words(late):
    standin.run(PROGRAM, TAEDA_NULL_LATE=str(int(late)))


NEAR = """
import itertools
import taeda
taeda.manual_seed(0)
x = taeda.arange(60.0).reshape(4, 3, 5)
rows, mask = taeda.tensor([0, -1, 2]), taeda.tensor([True, False, True, True])
KEYS = [(rows,), (rows.int(),), (mask,), (x > 20,), (x[:, :, 0] > 20,), (taeda.tensor(True),), (mask.byte(),)]
KEYS += [(slice(None), rows), (rows, rows), (mask, rows), (rows[:, None], slice(1, 3), rows), (None, rows)]
KEYS += [(..., rows), (1, rows), (rows, None, rows), (rows[:0],), (mask & ~mask,)]
def spread(key):
    tensors = [k for k, item in enumerate(key) if isinstance(item, taeda.Tensor)]
    for there in itertools.product((False, True), repeat=len(tensors)):
        which = dict(zip(tensors, there, strict=True))
        yield tuple(item.cuda() if which.get(k) else item for k, item in enumerate(key))
def gradient(t, key):
    t = t.clone().requires_grad_()
    (t[key] * 3).sum().backward()
    return t.grad
def written(t, key, value):
    t = t.clone()
    t[key] = value
    return t
for key in KEYS:
    for mixed in spread(key):
        assert taeda.equal(x.cuda()[mixed].cpu(), x[key]), mixed
        assert taeda.equal(gradient(x.cuda(), mixed).cpu(), gradient(x, key)), mixed
        for value in (7, taeda.tensor(7.0), taeda.tensor([7.0]), taeda.tensor([[7.0]])):
            wanted = written(x, key, value)
            for v in (value, value.cuda() if isinstance(value, taeda.Tensor) else value):
                assert taeda.equal(written(x.cuda(), mixed, v).cpu(), wanted), (mixed, value)
        for add in (False, True):
            if all(isinstance(item, taeda.Tensor) for item in key):
                made = x.cuda().index_put(mixed, taeda.tensor(2.0), add)
                assert taeda.equal(made.cpu(), x.index_put(key, taeda.tensor(2.0), add)), mixed
        assert x.to("meta")[key].shape == x[key].shape
for at in (taeda.tensor([1, 3]), taeda.tensor(2), taeda.tensor([], dtype=taeda.int64)):  # where to split, too
    for there in (at, at.cuda()):
        parts = x.cuda().tensor_split(there)
        assert [p.tolist() for p in parts] == [p.tolist() for p in x.tensor_split(at)]
def refused(call, *words):
    try:
        call()
    except RuntimeError as error:
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError(words)
refused(lambda: x[rows.cuda()], "index", "cpu and cuda:0")
refused(lambda: x.cuda()[rows.to("cuda:1")], "index", "cuda:0 and cuda:1")
refused(lambda: x.cuda().index_put_((rows,), taeda.ones(2).to("cuda:1")), "cuda:0 and cuda:1")
refused(lambda: written(x.cuda(), rows, taeda.ones(5)), "index_put_", "cpu and cuda:0")
refused(lambda: x.cuda().index_select(0, rows), "cpu and cuda:0")
"""


def test_indices_may_lie_on_the_cpu():
    standin.run(NEAR, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")


FAULTS = (
    standin.COUNTS
    + """
import taeda
from taeda.nn import functional as F
x = taeda.arange(12.0, device="cuda").reshape(4, 3)
bad = taeda.tensor([1, 7]).cuda()
def raised():
    try:
        taeda.cuda.synchronize()
    except (IndexError, RuntimeError) as error:
        return type(error).__name__, str(error)
def case(name, call):
    counts, made = counted(call)
    assert not counts["waits"] and not counts["to_host"], (name, counts)
    kind, words = raised()
    assert "<string>:" in words and name in words, (name, words)
    assert raised() is None  # once, and the device goes on
    return kind, made
index = [
    ("embedding", lambda: F.embedding(bad, x)),
    ("index 7", lambda: x[bad]),
    ("index 7", lambda: x[:, bad]),
    ("index_select", lambda: x.index_select(0, bad)),
    ("index_add_", lambda: x.index_add(0, bad, x[:2])),
    ("cross_entropy: Target 7", lambda: F.cross_entropy(x[:2], bad)),
    ("nll_loss: Target 7", lambda: F.nll_loss(x[:2], bad)),
]
for name, call in index:
    assert case(name, call)[0] == "IndexError", name
run = [
    ("gather", lambda: x.gather(0, bad[:, None])),
    ("scatter", lambda: x.scatter(0, bad[:, None], x)),
    ("between 0 and 1", lambda: F.binary_cross_entropy(x, x)),
    ("multi_margin_loss: Target 7", lambda: F.multi_margin_loss(x[:2], bad)),
]
for name, call in run:
    assert case(name, call)[0] == "RuntimeError", name
# what is right is read, what is not leaves its place alone, whatever it says
_, made = case("index 7", lambda: x[bad])
assert made[0].tolist() == [3, 4, 5]
y = x.clone()
case("index 7", lambda: y.index_put_((bad,), x[:2] + 1))
assert y.tolist() == [[0, 1, 2], [1, 2, 3], [6, 7, 8], [9, 10, 11]], y
try:
    x[bad].sum().item()
except IndexError as error:
    assert "index 7 is out of bounds for dimension 0 with size 4" in str(error), error
else:
    raise AssertionError("a wait for a number")
"""
)


def test_a_wait_names_the_call_whose_index_was_wrong():
    standin.run(FAULTS)


def test_blocking_launches_name_it_at_once():
    standin.run(
        """
import taeda
x, bad = taeda.ones(4, 3, device="cuda"), taeda.tensor([1, 7]).cuda()
loss = taeda.nn.functional.nll_loss
for call in (lambda: x[bad], lambda: x.index_select(0, bad), lambda: loss(x[:2], bad)):
    try:
        call()
    except IndexError as error:
        assert "7" in str(error)
    else:
        raise AssertionError(call)
""",
        CUDA_LAUNCH_BLOCKING="1",
    )
