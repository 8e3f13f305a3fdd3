"""A device whose memory faults when the host touches it: what runs on it assumes nothing about
where elements lie.

The device is compiled here from guarded.c and driven in a process of its own, because a device type
is registered once a process.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CSRC = HERE.parents[1] / "csrc"


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The device as a shared library."""
    from taeda._build import cc

    folder = tmp_path_factory.mktemp("guarded")
    units = [cc.Unit(HERE / "guarded.c", (f"-I{CSRC}",))]
    flags = ("-O1", "-fPIC", "-std=gnu11", "-fvisibility=hidden")
    return cc.build(units, folder / "guarded.so", folder, flags, ())


PROLOGUE = """
import ctypes, sys
import taeda
from taeda._native import core
library = ctypes.CDLL({library!r})
library.guarded_table.restype = ctypes.c_void_p
host = [ctypes.c_void_p(address) for address in core.device_host()]
taeda.utils.rename_privateuse1_backend("guarded")
core.register_privateuse1(library.guarded_table(*host[:3]))
def register(row, how, kind=3):
    return library.guarded_register(host[3], row.encode(), kind, how)
library.guarded_late({late})
"""


def run(library, program: str, late: bool = False) -> None:
    text = PROLOGUE.format(library=str(library), late=int(late)) + program
    command = [sys.executable, "-X", "faulthandler", "-c", text]
    env = {**os.environ, "TAEDA_LIBCUDA": "/nowhere/libcuda.so.1"}  # also where there is a driver
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=env
    )
    assert done.returncode == 0, done.stdout + done.stderr


VALUES = """
x = taeda.arange(24.0).reshape(2, 3, 4)
d = x.to("guarded")
assert d.device == taeda.device("guarded:0") and str(d.device) == "guarded:0"
def same(made, wanted):
    assert made.device.type == "guarded", made.device
    back = made.cpu()
    assert (
        back.dtype == wanted.dtype and back.shape == wanted.shape and taeda.equal(back, wanted)
    ), (back, wanted)
"""

CASES = {
    "copies and casts": """
same(d, x)
same(d.to(taeda.int32), x.to(taeda.int32))
same(d.clone().fill_(3), taeda.full_like(x, 3))
same(d.to("guarded:1"), x)
same(taeda.zeros(3, device="guarded"), taeda.zeros(3))
same(taeda.arange(5, device="guarded"), taeda.arange(5))
same(taeda.eye(3, device="guarded:1"), taeda.eye(3))
y = taeda.empty(2, 3, 4, device="guarded")
y.copy_(x.transpose(0, 2).contiguous().transpose(0, 2))
same(y, x)
z = taeda.zeros(2, 3, 4)
z.copy_(d)
assert taeda.equal(z, x)
assert d.tolist() == x.tolist() and d[1, 2, 3].item() == 23.0
with taeda.device("guarded"):
    assert taeda.ones(2).device.type == "guarded"
""",
    "views": """
same(d.transpose(0, 2), x.transpose(0, 2))
same(d[1, :, ::2], x[1, :, ::2])
same(d.transpose(0, 1).reshape(-1), x.transpose(0, 1).reshape(-1))
same(taeda.cat([d, d], 1), taeda.cat([x, x], 1))
same(taeda.stack([d, d]), taeda.stack([x, x]))
same(d.flip(0), x.flip(0))
same(d.roll(1, 2), x.roll(1, 2))
same(taeda.nn.functional.pad(d, (1, 2)), taeda.nn.functional.pad(x, (1, 2))) if hasattr(taeda, "nn") else None
e = d.clone()
e[0] = 7
f = x.clone()
f[0] = 7
same(e, f)
""",
    "elementwise": """
same(d + d, x + x)
same(d * 2 + 1, x * 2 + 1)
same(d.exp(), x.exp())
same(d.transpose(0, 2) + d.transpose(0, 2).contiguous(), x.transpose(0, 2) + x.transpose(0, 2))
same(d > 5, x > 5)
same(taeda.where(d > 5, d, -d), taeda.where(x > 5, x, -x))
same(d + taeda.arange(4, device="guarded"), x + taeda.arange(4))
same(d / 3, x / 3)
same(taeda.add(d, taeda.tensor(2.5)), x + 2.5)
same(d.div(2, rounding_mode="floor"), x.div(2, rounding_mode="floor"))
e = d.clone(); e += 1; e.mul_(e)
same(e, (x + 1) * (x + 1))
c = taeda.complex(d, d + 1)
same(c.conj().clone(), taeda.complex(x, x + 1).conj().clone())
same(d.gelu() if hasattr(d, "gelu") else d.sigmoid(), x.gelu() if hasattr(x, "gelu") else x.sigmoid())
""",
    "reductions": """
same(d.sum(), x.sum())
same(d.sum(1), x.sum(1))
same(d.mean((0, 2), keepdim=True), x.mean((0, 2), keepdim=True))
same(d.transpose(0, 2).amax(1), x.transpose(0, 2).amax(1))
same(d.max(1).indices, x.max(1).indices)
same((d > 3).any(0), (x > 3).any(0))
same(d.argmax(), x.argmax())
same(d.to(taeda.bfloat16).sum(0), x.to(taeda.bfloat16).sum(0))
same(taeda.complex(d, d).sum(0), taeda.complex(x, x).sum(0))
""",
    "refusals": """
def refuses(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
refuses(NotImplementedError, "is not implemented for device 'guarded:0'", lambda: d.sort())
refuses(RuntimeError, "cpu and guarded:0", lambda: d + x)
refuses(RuntimeError, "guarded:0 and guarded:1", lambda: d + d.to("guarded:1"))
refuses(RuntimeError, "there are 2 devices", lambda: taeda.empty(1, device="guarded:2"))
refuses(RuntimeError, "tensors live on 'cpu', 'guarded' or 'meta'", lambda: taeda.empty(1, device="cuda"))
refuses(TypeError, "cpu()", lambda: d.numpy())
refuses(RuntimeError, "renamed to 'guarded' already", lambda: taeda.utils.rename_privateuse1_backend("other"))
""",
    "methods by its name": """
taeda.utils.generate_methods_for_privateuse1_backend(for_storage=True)
same(x.guarded(), x)
same(x.guarded(1), x)
assert d.is_guarded and not x.is_guarded
def refuses(words, call):
    try:
        call()
    except RuntimeError as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
refuses("not to 'cpu'", lambda: x.guarded("cpu"))
refuses("has an attribute 'guarded' already", taeda.utils.generate_methods_for_privateuse1_backend)
""",
    "nothing is left": """
import gc
y = (d + 1).sum(0).exp()
del d, y
gc.collect()
assert library.guarded_live() == 0, library.guarded_live()
""",
}


@pytest.mark.parametrize("late", [False, True], ids=["at once", "late"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_device_with_memory_of_its_own(library, case, late):
    run(library, VALUES + CASES[case], late)


REGISTERED = """
y = taeda.tensor([[1.0, 2.0], [3.0, 4.0]]).to("guarded")
def refused():
    try:
        y.cumsum(0)
    except NotImplementedError as error:
        assert "not implemented for device 'guarded:0'" in str(error), error
        return True
assert refused()
assert register("cumsum", 1) == 0
assert y.cumsum(0) is y and library.guarded_calls() == 1
assert y.cpu().cumsum(0).tolist() == [[1, 2], [4, 6]] and library.guarded_calls() == 1
z = y.clone().requires_grad_()
z.cumsum(0).backward(taeda.ones(2, 2, device="guarded"))
assert library.guarded_calls() >= 2 and z.grad.device == y.device
assert register("exp", 1) == 0  # before what the table's walk would do
assert y.exp() is y and y.sin().cpu().allclose(y.cpu().sin())
assert register("exp", 0) == 0 and y.exp().cpu().allclose(y.cpu().exp())  # taken back
assert register("cumsum", 2) == 0 and refused()
assert register("cumsum", 0) == 0 and refused()
for row, kind in (("no_such_row", 3), ("cumsum", 0), ("cumsum", 1), ("cumsum", 8), ("cumsum", -1)):
    assert register(row, 1, kind) != 0, (row, kind)
"""


def test_a_function_that_is_registered_for_a_row_is_the_first_choice(library):
    run(library, REGISTERED)
