"""taeda/taeda.hpp on a CUDA device, with the stand-in driver: where tensors are, the current stream,
functions for the device.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import taeda
from taeda.utils.cpp_extension import load_inline

sys.path.insert(0, str(Path(taeda.__file__).parents[2] / "tests" / "cuda"))
standin = pytest.importorskip("standin", reason="the core's tests are not beside the package")

SOURCE = r"""
using taeda::Device;
using taeda::Tensor;

Tensor on_cpu(Tensor x) { return taeda::scalar<int64_t>(-1); }
Tensor place(Tensor x)
{
    TAEDA_CHECK(x.is_cuda() && !x.is_meta() &&
                    x.device() == Device(TAEDA_CUDA, x.device().index()), "elsewhere");
    int64_t stream = int64_t(reinterpret_cast<uintptr_t>(taeda::current_stream(x.device())));
    return taeda::tensor<int64_t>({x.device().index(), stream, Device(TAEDA_CUDA, 9).available()});
}
Tensor made(Tensor x)
{
    Tensor y = taeda::empty({2, 3}, TAEDA_FLOAT32, x.device()), z = taeda::zeros_like(x);
    TAEDA_CHECK(y.device() == x.device() && taeda::empty_like(x).is_cuda(), "elsewhere");
    x.record_stream(nullptr);
    return z + 1;
}
double last(Tensor x) { return taeda::select(x, 0, -1).item<double>() + x.cpu().data<float>()[0]; }
Tensor streamless() { taeda::current_stream(Device(TAEDA_CPU)); return Tensor(); }
Tensor nowhere() { return taeda::empty({2}, TAEDA_FLOAT32, Device(TAEDA_CUDA, 9)); }

TAEDA_EXTENSION(m)
{
    m.def("place", on_cpu).cuda(place);
    m.def("made", made).cuda(made);
    m.def("last", last).cuda(last);
    m.def("only_cpu", on_cpu);
    m.def("streamless", streamless);
    m.def("nowhere", nowhere);
}
"""
PROGRAM = """
import sys, taeda
from taeda.utils.cpp_extension import import_library
ext = import_library("hpp_cuda", {library!r})
x = taeda.arange(4.0, device="cuda:1")
stream = taeda.cuda.Stream("cuda:1")
assert ext.place(x).tolist() == [1, 0, 0] and ext.place(x.cpu()).item() == -1
with taeda.cuda.stream(stream):
    assert ext.place(x).tolist() == [1, stream.cuda_stream, 0]
y = ext.made(x)
assert y.device == x.device and y.tolist() == [1, 1, 1, 1]
assert ext.last(x) == 3.0 and ext.last(x.cpu()) == 3.0
for call, kind, words in (
    (lambda: ext.only_cpu(x), NotImplementedError, "no kernel is registered for device 'cuda:1'"),
    (ext.streamless, RuntimeError, "a CUDA device has streams"),
    (ext.nowhere, RuntimeError, "there are 2 devices of type 'cuda'"),
):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
"""


def test_functions_for_a_device(tmp_path):
    module = load_inline("hpp_cuda", SOURCE, build_directory=tmp_path, extra_cflags=["-O0"])
    standin.run(PROGRAM.format(library=module.__file__))
