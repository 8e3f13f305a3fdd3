"""torch_compat: sources in the style of public extension projects compile, and give numpy's numbers.

The sources are in `torch_sources`. All make one library.
"""

from __future__ import annotations

import gc
import itertools
import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import taeda
from taeda.utils.cpp_extension import include_paths, load, load_inline

SOURCES = Path(__file__).parent / "torch_sources"
ONES = sorted(p for p in SOURCES.glob("*.cpp") if p.name not in ("all.cpp", "bindings.cpp"))
RNG = np.random.default_rng(3)


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    files = [SOURCES / name for name in ("all.cpp", "lltm.cpp", "bindings.cpp")]
    return load(
        "torch_zoo",
        files,
        extra_cflags=["-O0", "-Wall", "-Wextra", "-Werror"],
        build_directory=tmp_path_factory.mktemp("zoo"),
    )


@pytest.fixture(scope="module")
def zoo(cells):
    return taeda.ops.zoo


def drawn(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def close(made, wanted, **tolerance):
    np.testing.assert_allclose(made.numpy(), wanted, **({"rtol": 1e-5, "atol": 1e-6} | tolerance))


# ---- each against numpy ----


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.float16])
def test_scatter_sum(zoo, dtype):
    src, index = (drawn(9, 3) * 8).astype(dtype), RNG.integers(0, 4, 9)
    wanted = np.zeros((4, 3), dtype)
    np.add.at(wanted, index, src)
    made = zoo.scatter_sum(taeda.from_numpy(src), taeda.from_numpy(index), 4)
    close(
        made,
        wanted,
        rtol=2e-3 if dtype == np.float16 else 1e-5,
        atol=1e-2 if dtype == np.float16 else 1e-6,
    )


def test_scatter_sum_has_the_derivative_of_its_function(zoo):
    index = taeda.tensor([0, 2, 2, 1])
    src = taeda.randn(4, 3, dtype=taeda.float64, requires_grad=True)
    assert taeda.autograd.gradcheck(lambda x: zoo.scatter_sum(x, index, None), (src,))
    with taeda.no_grad():
        assert not zoo.scatter_sum(src, index, None).requires_grad
    made = zoo.scatter_sum(src, index, None).square().sum()
    grad = taeda.autograd.grad(made, src, create_graph=True)[0].sum()
    with pytest.raises(NotImplementedError, match="no autograd formula"):
        grad.backward()


def test_scatter_max(zoo):
    src, index = drawn(9), RNG.integers(0, 3, 9)
    out, arg = zoo.scatter_max(taeda.from_numpy(src), taeda.from_numpy(index), 4)
    for k in range(3):
        rows = np.flatnonzero(index == k)
        assert (out[k] == src[rows].max()) and arg[k] == rows[src[rows].argmax()]
    assert out[3] == -math.inf and arg[3] == 9


@pytest.mark.parametrize("threads", [1, 2])
def test_segment_mean(zoo, threads):
    src, ptr = drawn(10, 4), np.array([0, 3, 3, 10])
    before = taeda.get_num_threads()
    taeda.set_num_threads(threads)
    made = zoo.segment_mean(taeda.from_numpy(src), taeda.from_numpy(ptr))
    taeda.set_num_threads(before)
    close(made, [src[:3].mean(0), np.zeros(4), src[3:].mean(0)])
    short = zoo.segment_mean(taeda.from_numpy(src).half(), taeda.from_numpy(ptr))
    close(short.float(), made.numpy(), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("threads", [1, 2])
def test_farthest_points_call_operators_in_a_loop(zoo, threads):
    points, ptr = drawn(20, 3), np.array([0, 8, 20])
    before = taeda.get_num_threads()
    taeda.set_num_threads(threads)
    made = zoo.farthest_points(taeda.from_numpy(points), taeda.from_numpy(ptr), 4)
    taeda.set_num_threads(before)
    for b in range(2):
        cloud, last = points[ptr[b] : ptr[b + 1]], 0
        distance = np.full(len(cloud), np.inf)
        for k in range(4):
            assert made[b, k] == ptr[b] + last
            distance = np.minimum(distance, ((cloud - cloud[last]) ** 2).sum(1))
            last = int(distance.argmax())


def test_knn_and_ball_query(zoo):
    x, y = drawn(12, 3), drawn(5, 3)
    order = np.argsort(((y[:, None] - x[None]) ** 2).sum(-1), axis=1, kind="stable")[:, :3]
    made = zoo.knn(taeda.from_numpy(x), taeda.from_numpy(y), 3)
    assert made.tolist() == [np.repeat(np.arange(5), 3).tolist(), order.ravel().tolist()]
    distance = np.sqrt(((x - y[0]) ** 2).sum(1))
    found = zoo.ball_query(taeda.from_numpy(x), taeda.from_numpy(y[0]), 1.5)
    assert isinstance(found, list) and sorted(found) == np.flatnonzero(distance <= 1.5).tolist()


def test_nms(zoo):
    corner, size = RNG.uniform(0, 6, (20, 2)), RNG.uniform(1, 4, (20, 2))
    boxes, scores = np.concatenate([corner, corner + size], 1), RNG.uniform(size=20)
    kept: list[int] = []
    area = size.prod(1)
    for i in np.argsort(-scores, kind="stable"):
        lap = [
            np.prod(
                np.maximum(
                    np.minimum(boxes[i, 2:], boxes[j, 2:]) - np.maximum(boxes[i, :2], boxes[j, :2]),
                    0,
                )
            )
            for j in kept
        ]
        if all(both <= 0.3 * (area[i] + area[j] - both) for both, j in zip(lap, kept, strict=True)):
            kept.append(int(i))
    assert zoo.nms(taeda.from_numpy(boxes), taeda.from_numpy(scores), 0.3).tolist() == kept
    with pytest.raises(RuntimeError, match=r"boxes should be a \[n, 4\] tensor, got \[3\]"):
        zoo.nms(taeda.ones(3), taeda.ones(3), 0.5)


def test_rotated_iou(zoo):
    a = taeda.tensor([[0.0, 0, 2, 2, 0], [1, 1, 4, 2, math.pi / 2]])
    b = taeda.tensor([[0.0, 0, 2, 2, math.pi / 2], [1, 0, 2, 2, 0], [0, 0, 2, 2, math.pi / 4]])
    octagon = 8 * (math.sqrt(2) - 1)
    close(zoo.rotated_iou(a, b)[0], [1, 1 / 3, octagon / (8 - octagon)])
    upright = np.array([0, -1, 2, 3.0])  # the second of a, as corners
    for j, other in enumerate([[-1, -1, 1, 1], [0, -1, 2, 1]]):
        both = np.prod(np.minimum(upright[2:], other[2:]) - np.maximum(upright[:2], other[:2]))
        close(zoo.rotated_iou(a, b)[1, j], both / (8 + 4 - both))


def test_lltm(cells):
    x, w, b, h, c = drawn(2, 3), drawn(12, 7), drawn(12), drawn(2, 4), drawn(2, 4)
    both = np.concatenate([h, x], 1)
    gates = both @ w.T + b
    i, o, z = np.split(gates, 3, 1)
    sigmoid = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    new = c + np.where(z > 0, z, np.expm1(z)) * sigmoid(i)
    made = cells.forward(*map(taeda.from_numpy, (x, w, b, h, c)))
    assert isinstance(made, list) and len(made) == 7
    close(made[0], np.tanh(new) * sigmoid(o))
    close(made[1], new)
    close(made[6], gates)


def test_lltm_backward_is_what_autograd_computes(cells):
    values = [
        taeda.randn(*s, dtype=taeda.float64, requires_grad=True)
        for s in ((2, 3), (12, 7), (12,), (2, 4), (2, 4))
    ]
    x, w, b, h, c = values
    gates = taeda.cat([h, x], 1) @ w.t() + b
    i, o, z = gates.chunk(3, 1)
    cell = (
        c + taeda.nn.functional.elu(z) * i.sigmoid()
        if hasattr(taeda, "nn")
        else c + z.elu() * i.sigmoid()
    )
    new_h = cell.tanh() * o.sigmoid()
    grads = taeda.autograd.grad(new_h.sum() + 2 * cell.sum(), values)
    with taeda.no_grad():
        _, cell, *kept = cells.forward(*values)
        i, o, z, both, gates = kept
        one = taeda.ones_like(cell)
        d_h, d_x, d_w, d_b, d_c = cells.backward(one, 2 * one, cell, i, o, z, both, gates, w)
    for made, wanted in zip((d_x, d_w, d_b[0], d_h, d_c), grads, strict=True):
        assert taeda.allclose(made, wanted)


def test_transducer_loss(zoo):
    p = taeda.randn(2, 4, 3, 5, dtype=taeda.float64).log_softmax(-1)
    labels = taeda.tensor([[1, 2], [3, 0]], dtype=taeda.int32)
    made = zoo.transducer_loss(p, labels, taeda.tensor([4, 3]), taeda.tensor([2, 1]), blank=4)
    for b, (frames, count) in enumerate([(4, 2), (3, 1)]):
        total = 0.0  # over all ways to place labels among blanks; the last step is a blank
        for places in itertools.combinations(range(frames - 1 + count), count):
            t = u = 0
            log = 0.0
            for step in range(frames - 1 + count):
                symbol = labels[b, u] if step in places else 4
                log += float(p[b, t, u, int(symbol)])
                t, u = (t, u + 1) if step in places else (t + 1, u)
            total += math.exp(log + float(p[b, t, u, 4]))
        assert float(made[b]) == pytest.approx(-math.log(total))


def test_spmm_with_the_derivative_of_both(zoo):
    dense = drawn(4, 5, dtype=np.float64) * (RNG.uniform(size=(4, 5)) < 0.5)
    row, col = map(taeda.from_numpy, np.nonzero(dense))
    ptr = taeda.from_numpy(np.cumsum([0, *(dense != 0).sum(1)]))
    value, mat = (
        taeda.from_numpy(dense[dense != 0]),
        taeda.from_numpy(drawn(5, 3, dtype=np.float64)),
    )
    close(zoo.spmm(row, ptr, col, value, mat), dense @ mat.numpy())
    close(zoo.spmm(None, ptr, col, None, mat), (dense != 0) @ mat.numpy())
    value.requires_grad_()
    with pytest.raises(RuntimeError, match="row is missing"):
        zoo.spmm(None, ptr, col, value, mat)
    with taeda.no_grad():
        zoo.spmm(None, ptr, col, value, mat)
    mat.requires_grad_()
    assert taeda.autograd.gradcheck(lambda v, m: zoo.spmm(row, ptr, col, v, m), (value, mat))
    assert zoo.version() == 3


def test_muladd_and_its_kin(zoo):
    a, b = taeda.randn(3, 2), taeda.randn(3, 2)
    close(zoo.muladd(a, b, 2), a.numpy() * b.numpy() + 2)
    assert zoo.muladd(a.to("meta"), b.to("meta"), 1.0).shape == (3, 2)
    out = taeda.empty(3, 2)
    assert zoo.add_out(a, b, out) is None and taeda.equal(out, a + b)
    version = out._version
    assert zoo.double_(out) is out and taeda.equal(out, 2 * (a + b)) and out._version > version
    with pytest.raises(RuntimeError, match=r"Expected a.sizes\(\) == b.sizes\(\) to be true"):
        zoo.muladd(a, b[:1], 1)


def test_operators_alone(zoo):
    points = drawn(30, 2)
    low, high = points.min(0), points.max(0)
    cells = ((high - low) / 0.5).astype(np.int64) + 1
    wanted = ((points - low) / 0.5).astype(np.int64) @ np.array([1, cells[0]])
    assert (
        zoo.voxels(taeda.from_numpy(points), taeda.full((2,), 0.5), None, None).tolist()
        == wanted.tolist()
    )


def test_brackets(zoo):
    x, mask = drawn(4, 3), np.array([True, False, True, False])
    some, chosen, written = zoo.bracketed(taeda.from_numpy(x), taeda.from_numpy(mask))
    wanted = x.copy()
    wanted[:2, 1] = -1
    wanted[mask] = 0
    assert (some.numpy() == x[::2]).all() and (chosen.numpy() == x[mask][:, 1:]).all()
    assert (written.numpy() == wanted).all()


def test_results_of_other_types(zoo, cells):
    x = taeda.arange(5.0)
    first, second = zoo.halves(x, [2, 3], True)
    assert first.tolist() == [0, 1] and second.tolist() == [2, 3, 4]
    assert zoo.halves(x, [2, 3], False)[1] is None
    assert zoo.describe(x, taeda.int32, "it is") == "it is Float[5] Int cpu 10"
    assert cells.__doc__ == "cells and small things"
    assert cells.first([]) is None and cells.first([x]).tolist() == x.tolist()
    assert [t.tolist() for t in cells.repeated(x)] == [x.tolist()] * 2
    assert cells.scaled(x).tolist() == (x * 0.5).tolist()
    assert cells.scaled(x, how="add", by=2).tolist() == (x + 2).tolist()
    for times in (0, 16, 300):
        assert len({t.data_ptr() for t in cells.repeated(x, times=times)}) == times
    assert str(taeda.ops.torch_zoo.repeated.default._schema).endswith("-> Tensor?[]")


def test_lists_of_any_length_and_more_results_than_sixteen(zoo):
    x = taeda.randn(3, dtype=taeda.float64, requires_grad=True)
    for n in (0, 1, 16, 40):
        made = zoo.steps(x, n)
        assert isinstance(made, list) and len(made) == n
        assert all(taeda.equal(t, x * i) for i, t in enumerate(made))
        total, made, lengths = zoo.parted(x, n)
        assert (len(made), lengths) == (n, [n])
        assert taeda.equal(total.detach(), x.detach().sum())
    assert taeda.autograd.gradcheck(lambda x: tuple(zoo.steps(x, 20)), (x,))
    made = zoo.parted(x, 20)[1]
    (grad,) = taeda.autograd.grad(made[3].sum() + 2 * made[19].sum(), x)
    assert grad.tolist() == [41.0] * 3
    with taeda.no_grad():
        assert not zoo.steps(x, 2)[1].requires_grad
    one, none = zoo.with_gaps(x.detach())
    assert none is None and taeda.equal(one, x + 1)
    made = zoo.eighteen(x.detach())
    assert isinstance(made, tuple) and len({t.data_ptr() for t in made}) == 18
    assert taeda.equal(made[17], x + 17)


def test_exceptions_by_their_kinds(cells):
    for kind, wanted, text in (
        (0, IndexError, "index 0"),
        (1, ValueError, "value 1"),
        (2, RuntimeError, "error 2 of Half"),
        (3, IndexError, "far"),
    ):
        with pytest.raises(wanted, match=text):
            cells.fails(kind)


def test_causal_convolution_and_correlation(zoo):
    x, w, b = drawn(2, 3, 7), drawn(3, 4), drawn(3)
    wide = np.pad(x, ((0, 0), (0, 0), (3, 0)))
    wanted = np.stack([(wide[:, :, t : t + 4] * w).sum(-1) for t in range(7)], -1) + b[:, None]
    close(zoo.causal_conv1d(*map(taeda.from_numpy, (x, w, b))), wanted)
    short = zoo.causal_conv1d(*(taeda.from_numpy(v).bfloat16() for v in (x, w, b)))
    close(short.float(), wanted, rtol=3e-2, atol=3e-2)
    a, c = drawn(1, 2, 4, 5), drawn(1, 2, 4, 5)
    wide = np.pad(c, ((0, 0), (0, 0), (1, 1), (1, 1)))
    wanted = [(a * wide[:, :, v : v + 4, u : u + 5]).sum(1) for v in range(3) for u in range(3)]
    close(zoo.correlation(taeda.from_numpy(a), taeda.from_numpy(c), 1), np.stack(wanted, 1))


def test_the_stable_surface(zoo):
    x = taeda.from_numpy(drawn(2, 3))
    close(zoo.inverted(x), 1 / x.numpy().T)
    with pytest.raises(RuntimeError, match="wanted Float, got Double"):
        zoo.inverted(x.double())


# ---- records of derivatives ----


def test_records_end_with_the_graph(zoo):
    """What forward saved is freed when Python's graph goes, and lives while it does."""
    from weakref import ref

    index = taeda.tensor([0, 1])
    src = taeda.randn(2, 3, requires_grad=True)
    made = zoo.scatter_sum(src, index, None)
    taeda.autograd.grad(made.sum(), src, retain_graph=True)
    assert taeda.equal(taeda.autograd.grad(made.sum(), src)[0], taeda.ones(2, 3))
    alive = ref(made)
    del made
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("kind", ["index", "data"])
def test_what_forward_kept_may_not_be_written(zoo, kind):
    index = taeda.tensor([0, 1, 1])
    index = index.data if kind == "data" else index
    src = taeda.randn(3, 2, requires_grad=True)
    zoo.scatter_sum(src, index, None).sum().backward()  # untouched: fine
    made = zoo.scatter_sum(src, index, None).sum()
    index.add_(1)
    with pytest.raises(
        RuntimeError, match=r"saved variable 0 of shape \[3\].*modified|modified by an inplace"
    ):
        made.backward()


def test_a_record_that_does_not_exist_is_refused(zoo):
    with pytest.raises(RuntimeError, match="there is no record 12345"):
        taeda.ops.zoo.spmm__record(taeda.tensor(12345), [taeda.ones(1), None])


# ---- choosing the headers ----


def test_inline_texts_are_known_by_their_words(tmp_path):
    text = "torch::Tensor twice(const at::Tensor &x) { return 2 * x; }"
    made = load_inline(
        "inline_torch", text, functions=["twice"], extra_cflags=["-O0"], build_directory=tmp_path
    )
    assert made.twice(taeda.ones(2)).tolist() == [2, 2]
    # without a torch::autograd::Function an operator has no record, and is called as it is
    assert made.twice is taeda.ops.inline_torch.twice
    assert str(made.twice.default._schema) == "inline_torch::twice(Tensor arg0) -> Tensor?"
    with pytest.raises(RuntimeError, match="torch"):
        load_inline(
            "inline_taeda",
            text,
            functions=["twice"],
            torch_headers=False,
            build_directory=tmp_path / "b",
        )
    with pytest.raises(TypeError, match="torch_headers must be a bool"):
        load_inline("inline_bad", text, torch_headers="yes")


@pytest.mark.parametrize("source", ONES[:1], ids=lambda p: p.stem)
def test_each_alone(source):
    """The compiler takes a file by itself; the others are no different."""
    include = [f"-I{path}" for path in include_paths()]
    words = [
        "-std=c++17",
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-DTORCH_EXTENSION_NAME=x",
    ]
    command = ["c++", *words, *include, f"-I{include_paths()[1]}/torch_compat", str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---- enumerations ----


def test_an_enumeration_is_a_class_whose_members_functions_take(cells):
    corner = cells.Corner
    assert (
        list(corner.__members__) == ["Low", "High"]
        and corner.High == 4
        and corner(4).name == "High"
    )
    assert corner.__doc__ == "of a box" and str(corner.Low) == "Corner.Low"
    assert cells.opposite(corner.Low) == corner.High and cells.opposite() == corner.Low
    x = taeda.zeros(1)
    assert cells.moved(x).item() == 1 and cells.moved(x, cells.Side.Left).item() == -1
    assert cells.moved(x, cells.Left, corner.High).item() == 3 and cells.Left is cells.Side.Left


def test_a_number_that_is_no_member_is_refused(cells):
    with pytest.raises(ValueError, match=r"3 is no member of Corner; there are Low=0, High=4"):
        cells.opposite(3)
    with pytest.raises(NotImplementedError, match=r"no py::enum_ binds"):
        cells.unbound(0)


def test_members_are_pickled_by_their_module(cells, monkeypatch):
    monkeypatch.setitem(sys.modules, cells.__name__, cells)
    assert pickle.loads(pickle.dumps(cells.Corner.High)) is cells.Corner.High
