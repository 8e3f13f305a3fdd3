"""Operators that are defined at run time on a CUDA device: an extension of ABI 1.3 with a kernel of
its own (extensions/device.c), extensions of earlier minors, and kernels in Python.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from c_extensions import CURRENT, build

sys.path.insert(0, str(Path(__file__).parent))
import standin

HERE = Path(__file__).parent.parent / "extensions"
pytestmark = pytest.mark.skipif(
    shutil.which("cc") is None or shutil.which("c++") is None,
    reason="no C and C++ compiler on this machine",
)
START = """
import taeda
cuda = taeda.cuda
taeda.ops.load_library({library!r})
ops = taeda.ops.abicuda
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    flags = ("-std=c++17", "-include", str(Path(standin.HERE) / "emulate.h"), "-Wno-error")
    out = tmp_path_factory.mktemp("kernels") / "kernels.so"
    return build(HERE / "kernels.cpp", CURRENT, out, *flags, compiler="c++")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    flags = ('-DNAMESPACE="abicuda"', "-ldl")
    return build(HERE / "device.c", CURRENT, tmp_path_factory.mktemp("abi") / "d.so", *flags)


@pytest.fixture
def run(library, kernels):
    def go(program, **settings):
        standin.run(
            standin.REFUSES + START.format(library=library) + program, KERNELS=kernels, **settings
        )

    return go


@pytest.mark.parametrize("late", ["0", "1"], ids=["at once", "late"])
def test_a_kernel_of_an_extension_runs_on_the_current_stream(run, late):
    run(
        """
for device in ("cuda:0", "cuda:1"):
    x = taeda.arange(700.0, device=device).reshape(20, 35).t()
    assert ops.twice(x + 1).device == x.device
    assert taeda.equal(ops.twice(x + 1).cpu(), 2 * (x.cpu() + 1))
    s = cuda.Stream(device)
    with cuda.stream(s):
        y = ops.twice(ops.beside(x + 1) + 1) + 1  # the extension's own stream is waited for
        s.synchronize()
    assert taeda.equal(y.cpu(), 4 * x.cpu() + 7)
assert ops.twice(taeda.ones(0, device="cuda")).shape == (0,)
assert ops.twice(taeda.ones(2, 3, device="meta")).is_meta
""",
        TAEDA_NULL_LATE=late,
    )


def test_device_numbers_and_streams(run):
    run("""
x = taeda.ones(2, device="cuda:1")
s = cuda.Stream("cuda:1")
assert ops.place(x).tolist() == [2 | 1 << 8, 0]
with cuda.stream(s):
    assert ops.place(x).tolist() == [2 | 1 << 8, s.cuda_stream]
    assert ops.stream_of(2 | 1 << 8).item() == s.cuda_stream and ops.stream_of(2).item() == 0
numbers = (0, 1, 2, 258, 514, 3, 256, -1, -254)
assert [ops.available(n).item() for n in numbers] == [1, 1, 1, 1, 0, 0, 0, 0, 0]
assert [ops.made(n).device for n in numbers[:4]] == [
    taeda.device(name) for name in ("cpu", "meta", "cuda:0", "cuda:1")
]
for slot in (ops.made, ops.stream_of):
    refuses(RuntimeError, "there are 2 devices of type 'cuda', with ordinals from 0; got 'cuda:2'",
            lambda: slot(514))
    for number in (3, 256, -1):
        refuses(RuntimeError, f"there is no device number {number}", lambda: slot(number))
refuses(RuntimeError, "a CUDA device has streams", lambda: ops.stream_of(0))
refuses(RuntimeError, "the tensor is on no CUDA device", lambda: ops.recorded(taeda.ones(1)))
""")


def test_what_an_extension_calls_makes_tensors_where_it_says(run):
    run("""
assert ops.ones().device == ops.ones("cpu").device == taeda.device("cpu")
assert ops.ones("cuda:1").device == taeda.device("cuda:1")
assert ops.ones(number=258).device == taeda.device("cuda:1")
for number in (3, 2 | 1 << 40, -1):
    refuses(ValueError, "call_op: there is no device number", lambda: ops.ones(number=number))
with taeda.device("cuda:1"):
    assert ops.ones().device == taeda.device("cpu")
    assert taeda.ones(2).device == taeda.device("cuda:1")
""")


def test_memory_that_another_stream_uses_is_not_handed_out(run):
    run(
        """
x = taeda.arange(600.0, device="cuda")
before = x.cpu()
y = ops.beside(x)
place = x.data_ptr()
del x
other = [taeda.zeros(600, device="cuda") for _ in range(3)]
assert place not in [o.data_ptr() for o in other]
assert taeda.equal(y.cpu(), 2 * before)
""",
        TAEDA_NULL_LATE="1",
    )


def test_libraries_of_earlier_minors_are_not_called_for_devices(run, tmp_path):
    flags = ('-DNAMESPACE="abiold"', "-DABI=TAEDA_ABI_OF(1, 2)", "-ldl")
    old = build(HERE / "device.c", CURRENT, tmp_path / "old.so", *flags)
    first = build(HERE / "scale.c", HERE / "abi_1_0", tmp_path / "first.so")
    run(f"""
x = taeda.ones(2, device="cuda")
taeda.ops.load_library({old!r})
taeda.ops.load_library({first!r})
refuses(NotImplementedError, "built against taeda ABI 1.2, which has no streams",
        lambda: taeda.ops.abiold.twice(x))
refuses(NotImplementedError, "which has no streams", lambda: taeda.ops.abiold.ones("cuda"))
refuses(NotImplementedError, "computes on the cpu: move the tensor with .cpu()",
        lambda: taeda.ops.first.twice(x))
assert taeda.ops.first.twice(x.cpu()).tolist() == [2, 2]
""")


PYTHON = """
from taeda.library import custom_op
seen = []

@custom_op("onboth::everywhere", mutates_args=())
def everywhere(x: taeda.Tensor) -> taeda.Tensor:
    seen.append(x.device.type)
    return x + 1

@custom_op("onboth::each", mutates_args=(), device_types="cpu")
def each(x: taeda.Tensor) -> taeda.Tensor:
    seen.append(x.device.type)
    return x + 1

@custom_op("onboth::fill", mutates_args={"x"}, device_types="cpu")
def fill(x: taeda.Tensor, by: float) -> None:
    seen.append(x.device.type)
    x += by

each.register_autograd(lambda ctx, grad: 3 * grad)
x = taeda.ones(3, device="cuda:1")
"""


def test_kernels_in_python_are_chosen_by_device(run):
    run(
        PYTHON
        + """
assert everywhere(x).device == x.device and everywhere(x).tolist() == [2, 2, 2]
refuses(NotImplementedError, "no kernel is registered for device 'cuda:1'", lambda: each(x))

@each.register_kernel("cuda")
def _(x):
    seen.append("own")
    return x + 2

w = taeda.ones(3, device="cuda:1", requires_grad=True)
each(w).sum().backward()
assert w.grad.tolist() == [3, 3, 3] and each(x).tolist() == [3, 3, 3]
assert each(x.cpu()).tolist() == [2, 2, 2]
assert seen == ["cuda", "cuda", "own", "own", "cpu"], seen

@fill.register_kernel("cuda")
def _(x, by):
    raise NotImplementedError("not today")
refuses(NotImplementedError, "not today", lambda: fill(x, 2.0))
"""
    )


def test_kernels_of_the_processor_serve_where_asked(run):
    run(
        PYTHON
        + """
import warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    made = each(x)
    fill(x, 2.0)
assert made.device == x.device and made.tolist() == [2, 2, 2] and x.tolist() == [3, 3, 3]
assert seen == ["cpu", "cpu"] and len(told) == 2, (seen, told)
""",
        TAEDA_CUDA_FALLBACK="cpu",
    )
