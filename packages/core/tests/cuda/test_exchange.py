"""Memory of a device shared with other libraries, on the stand-in driver."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROLOGUE = """
import gc
from taeda.utils.dlpack import from_dlpack, to_dlpack
x = taeda.arange(24.0).reshape(2, 3, 4)
d = x.cuda()
"""

CASES = {
    "a capsule keeps the memory": """
place = d.data_ptr()
for take in (
    lambda t: from_dlpack(t),
    lambda t: from_dlpack(to_dlpack(t)),
    lambda t: from_dlpack(t.__dlpack__(max_version=(1, 0))),
):
    e = take(d)
    assert e.data_ptr() == place and e.device == d.device and taeda.equal(e.cpu(), x)
    e[0, 0, 0] = -1
    assert d[0, 0, 0].item() == -1
    d[0, 0, 0] = 0
used = cuda.memory_allocated()
del d
assert cuda.memory_allocated() == used, "the capsule's tensor holds it"
del e
assert cuda.memory_allocated() == used - 512
""",
    "views and devices": """
t = d.transpose(0, 2)[1:]
e = from_dlpack(t)
assert e.stride() == t.stride() and taeda.equal(e.cpu(), x.transpose(0, 2)[1:])
other = x.to("cuda:1")
assert (
    other.__dlpack_device__() == (2, 1)
    and d.__dlpack_device__() == (2, 0)
    and x.__dlpack_device__() == (1, 0)
)
assert from_dlpack(other).device == taeda.device("cuda:1")
assert from_dlpack(taeda.empty(0, 3, device="cuda")).shape == (0, 3)
assert from_dlpack(d, device="cpu").tolist() == x.tolist()
assert from_dlpack(d, device="cuda:1").device.index == 1 and from_dlpack(x, device="cuda").is_cuda
copied = from_dlpack(d, copy=True)
assert copied.data_ptr() != d.data_ptr() and taeda.equal(copied.cpu(), x)
assert from_dlpack(d.__dlpack__(dl_device=(1, 0))).device.type == "cpu"
for wrong in ((2, 1), (2, 7), (10, 0)):
    refuses(BufferError, ["cuda:0", str(wrong)], lambda: d.__dlpack__(dl_device=wrong))
refuses(BufferError, ["(1, 0)"], lambda: d.__dlpack__(dl_device=(1, 0), copy=False))
refuses(ValueError, ["without copying"], lambda: from_dlpack(d, device="cuda:1", copy=False))
refuses(BufferError, ["gradient"], lambda: d.requires_grad_().__dlpack__())
""",
    "the consumer's stream waits": """
s = cuda.Stream()
seen = []
class Producer:
    def __dlpack__(self, **words):
        seen.append(words["stream"])
        with cuda.stream(cuda.default_stream()):     # where it works
            return made.__dlpack__(**words)
    def __dlpack_device__(self):
        return made.__dlpack_device__()
made = taeda.full((100,), 5.0, device="cuda")
with cuda.stream(s):
    e = from_dlpack(Producer())
    assert e.cpu()[0].item() == 5, "s waits for the producer's stream"
assert seen == [s.cuda_stream]
from_dlpack(Producer())
assert seen[1] == 1
with cuda.stream(s):
    late = taeda.full((100,), 7.0, device="cuda")
    capsule = late.__dlpack__(stream=None)          # None and 1: the default stream
assert from_dlpack(capsule).cpu()[0].item() == 7
with cuda.stream(s):
    late = taeda.full((100,), 8.0, device="cuda")
    capsule = late.__dlpack__(stream=-1)            # nobody waits
assert from_dlpack(capsule).cpu()[0].item() != 8
for wrong in (0, -2):
    refuses(AssertionError, ["stream"], lambda: d.__dlpack__(stream=wrong))
refuses(TypeError, ["stream must be an int"], lambda: d.__dlpack__(stream="x"))
""",
    "the array interface": """
face = d.__cuda_array_interface__
assert face == {
    "typestr": "<f4",
    "shape": (2, 3, 4),
    "strides": None,
    "data": (d.data_ptr(), False),
    "stream": 1,
    "version": 3,
}
assert d[:, 1].__cuda_array_interface__["strides"] == (48, 4)
assert d[:, 1].__cuda_array_interface__["data"][0] == d.data_ptr() + 16
s = cuda.Stream()
with cuda.stream(s):
    assert d.__cuda_array_interface__["stream"] == s.cuda_stream
assert taeda.empty(0, device="cuda").__cuda_array_interface__["data"] == (0, False)
for dtype, letters in (
    (taeda.bool, "|b1"),
    (taeda.int64, "<i8"),
    (taeda.float16, "<f2"),
    (taeda.complex64, "<c8"),
):
    assert d.to(dtype).__cuda_array_interface__["typestr"] == letters
assert not hasattr(x, "__cuda_array_interface__") and not hasattr(d.bfloat16(), "__cuda_array_interface__")
refuses(AttributeError, ["on cpu"], lambda: x.__cuda_array_interface__)
refuses(AttributeError, ["bfloat16", "DLPack"], lambda: d.bfloat16().__cuda_array_interface__)
refuses(RuntimeError, ["detach"], lambda: d.requires_grad_().__cuda_array_interface__)
""",
}


@pytest.mark.parametrize("case", CASES)
def test_on_the_stand_in(case):
    standin.memory(PROLOGUE + CASES[case], TAEDA_NULL_LATE="1")


def test_memory_of_a_device_that_is_not_there_is_refused():
    standin.memory(
        """
import ctypes
x = taeda.arange(3.0)
capsule = x.__dlpack__(max_version=(1, 0))
ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
at = ctypes.pythonapi.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
kind, number = (ctypes.c_int32.from_address(at + 4 * 8 + 8), ctypes.c_int32.from_address(at + 4 * 8 + 12))
assert (kind.value, number.value) == (1, 0)
from taeda.utils.dlpack import from_dlpack
for place, words in (((2, 5), ["CUDA device 5", "there are 2"]), ((10, 0), ["DLPack device 10"])):
    kind.value, number.value = place
    refuses(BufferError, words, lambda: from_dlpack(capsule))
kind.value, number.value = 3, 0              # pinned memory is the host's
assert from_dlpack(capsule).tolist() == [0, 1, 2]
"""
    )
