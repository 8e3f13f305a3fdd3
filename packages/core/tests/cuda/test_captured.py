"""What a CUDA graph may hold on the stand-in driver: operators of every kind, forward and backward, replayed
on other inputs. A capture refuses what waits, so these wait for nothing.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

START = """
import gc, warnings
import taeda
warnings.simplefilter("ignore")
cuda, F = taeda.cuda, taeda.nn.functional
taeda.manual_seed(0)
X, W = taeda.randn(6, 8, device="cuda"), taeda.randn(8, 8, device="cuda") * 0.3
I, K = taeda.randint(0, 6, (6,)).cuda(), taeda.randn(1, 1, 3, device="cuda")
FAR = taeda.tensor([0, -1, 47, -48, 5, 5]).cuda()
EDGES = taeda.tensor([0, 3, 3, 8]).cuda()
"""
TABLES = """
nearest        F.interpolate(y[None], scale_factor=2)
exact          F.interpolate(y[None, None], size=(5, 9), mode="nearest-exact")
linear         F.interpolate(y[None], scale_factor=2, mode="linear")
bilinear       F.interpolate(y[None, None], size=(9, 5), mode="bilinear")
bicubic        F.interpolate(y[None, None], scale_factor=1.5, mode="bicubic")
smooth         F.interpolate(y[None, None], size=(3, 3), mode="bilinear", antialias=True)
trilinear      F.interpolate(y[None, None, None], scale_factor=2, mode="trilinear")
bytes          F.interpolate((y[None, None] * 40).to(taeda.uint8), size=(9, 5), mode="bilinear")
reflect        F.pad(y[None], (2, 1), mode="reflect")
replicate      F.pad(y[None], (2, 1), mode="replicate")
circular       F.pad(y[None], (2, 1), mode="circular")
unfold         y.unfold(1, 3, 2)
as_strided     y.as_strided((4, 5), (3, 1), 2)
fold           F.fold(F.unfold(y[None, None], 2), (6, 8), 2)
response       F.local_response_norm(y[None], 2)
grid           F.grid_sample(y[None, None], F.affine_grid(W[None, :2, :3], (1, 1, 4, 4)))
eye            y @ taeda.eye(8, device="cuda")
linspace       y * taeda.linspace(0, 1, 8, device="cuda", dtype=taeda.bfloat16)
logspace       y * taeda.logspace(0, 1, 8, device="cuda")
window         y * taeda.hann_window(8, device="cuda")
triangle       y[tuple(taeda.tril_indices(6, 8, device="cuda"))]
frequencies    y * taeda.fft.fftfreq(8, device="cuda")
arange         y + taeda.arange(8, device="cuda")
take           y.take(FAR)
put            y.put(FAR, X[0, :6], accumulate=True)
quantile       y.quantile(0.3, dim=1)
nanquantile    y.nanquantile(0.5)
median         y.median(0)[0]
index          y[I, I]
index_put      y.index_put((I,), X, accumulate=True)
index_add      y.index_add(0, I, X)
gather         y.gather(0, I[:, None].expand(-1, 8))
scatter_add    y.scatter_add(0, I[:, None].expand(-1, 8), y)
embedding      F.embedding(I, y)
sort           y.sort(-1)[0]
topk           y.topk(2)[0]
scan           y.cumsum(0)
masked         y.masked_fill(X > 0, 0.0)
segments       taeda._segment_softmax(y, EDGES, True)
softmax        y.softmax(-1)
layer_norm     F.layer_norm(y, (8,))
batch_norm     F.batch_norm(y, None, None, training=True)
conv           F.conv1d(y.unsqueeze(1), K, padding=1)
transposed     F.conv_transpose1d(y.unsqueeze(1), K, stride=2)
attention      F.scaled_dot_product_attention(y[None, None], y[None, None], y[None, None])
cross_entropy  F.cross_entropy(y, I)
margin         F.multi_margin_loss(y, I)
pool           F.adaptive_avg_pool2d(y[None], 3)
one_hot        F.one_hot(I, 8).float() * y
clip           y * (1 / y.norm().clamp(min=1.0))
"""
PROGRAM = """
def made(f, grad):
    y = X.clone().requires_grad_(grad)
    out = f(y)
    if not (grad and out.requires_grad):
        return out.detach()
    (out * 3).sum().backward()
    return y.grad
seen = 0
for name, f in CASES.items():
    for grad in (False, True):
        made(f, grad), made(f, grad)  # kernels are compiled
        g = cuda.CUDAGraph()
        with cuda.graph(g):
            out = made(f, grad)
        for _ in range(2):
            X.mul_(0.7).add_(0.1)
            gc.collect()
            junk = [taeda.full((64,), float("nan"), pin_memory=True).cuda() for _ in range(4)]
            g.replay()
            got, wanted = out.clone(), made(f, grad)
            assert ((got == wanted) | (got.isnan() & wanted.isnan())).all(), (name, grad)
        seen += 1
        g.reset()
assert seen >= 100, seen
"""
REFUSED = """
near, number = taeda.tensor([0, 1]), taeda.ones(8)
def refused(words, f):
    f()
    g = cuda.CUDAGraph()
    try:
        with cuda.graph(g):
            f()
    except RuntimeError as error:
        assert words in str(error) and "Do it before the capture" in str(error), error
    else:
        raise AssertionError(words)
# numbers that may be others by the next replay are none that a graph may keep
refused("not pinned", lambda: taeda.randn(3, device="cuda"))
refused("not pinned", lambda: X[near])
refused("not pinned", lambda: X[taeda.ones(6, dtype=taeda.bool)])
refused("not pinned", lambda: X.clone().index_put_((near,), number.cuda()))
refused("not pinned", lambda: X[0].copy_(number))
refused("not pinned", lambda: X[0].copy_(number, non_blocking=True))
refused("reading", lambda: X[X > 0])
refused("reading", lambda: X.sum().item())
# what a graph keeps of the host is given up with it
taeda.cuda.synchronize()
before = cuda.host_memory_stats()["allocation.current"]
g = cuda.CUDAGraph()
def step():
    return F.interpolate(X[None, None], size=(9, 5), mode="bilinear") + taeda.linspace(0, 1, 5, device="cuda")
step()
with cuda.graph(g):
    step()
assert cuda.host_memory_stats()["allocation.current"] > before
g.reset()
assert cuda.host_memory_stats()["allocation.current"] == before
"""


def cases() -> str:
    lines = [line.split(None, 1) for line in TABLES.strip().splitlines()]
    return "CASES = {" + ", ".join(f"{name!r}: lambda y: {text}" for name, text in lines) + "}\n"


@pytest.mark.slow
def test_tables_and_constants_are_the_graphs_own():
    standin.run(START + cases() + PROGRAM, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")


def test_numbers_of_the_program_are_not_frozen():
    standin.run(START + REFUSED, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")
