"""`import torch` gives taeda where that was asked for. Each test has a process of its own, for it lasts."""

import importlib.util
import subprocess
import sys

import pytest


def run(code, *arguments):
    subprocess.run([sys.executable, "-c", code, *arguments], check=True)


def test_modules_are_ours_and_stay_what_they_are():
    run("""
import taeda, sys
taeda.install_as_torch(); taeda.install_as_torch()
import torch, torch.linalg, torch.utils.dlpack as d
from torch.utils import hooks
from torch import Tensor, float32
assert torch.linalg is taeda.linalg and d is taeda.utils.dlpack and Tensor is taeda.Tensor
assert taeda.linalg.__spec__.name == 'taeda.linalg' and taeda.linalg.__name__ == 'taeda.linalg'
assert hooks is sys.modules['taeda.utils.hooks']
assert str(float32) == 'torch.float32' and 'ones' in dir(torch)
torch.mark = 3
assert taeda.mark == 3
""")


def test_the_version_is_that_of_the_interface():
    run("""
import taeda, importlib.metadata as m
taeda.install_as_torch()
import torch
assert torch.__version__ == m.version('torch') == m.distribution('torch').version == '2.13.0+taeda'
assert taeda.__version__ != torch.__version__ and m.version('taeda-core') == taeda.__version__
""")


def test_what_is_absent_is_absent_there_too():
    run("""
import taeda, importlib.util
taeda.install_as_torch()
import torch
assert not hasattr(torch, 'frobnicate') and importlib.util.find_spec('torch.frobnicate') is None
try:
    import torch.frobnicate.more
except ModuleNotFoundError:
    pass
else:
    raise AssertionError
try:
    torch.cuda.CUDAGraph()
except RuntimeError as error:
    assert 'does not exist in taeda' in str(error)
assert not torch.distributed.is_available()
from torch._dynamo import disable, is_compiling
assert disable(lambda x: x + 1)(1) == disable(recursive=False)(lambda x: x + 1)(1) == 2 and not is_compiling()
""")


def test_the_real_one_is_not_replaced():
    code = (
        "import sys, types, taeda; sys.modules['torch'] = types.ModuleType('torch'); "
        "taeda.install_as_torch()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "torch is imported in this process already" in done.stderr


@pytest.mark.parametrize("first", ["taeda", "einops"])
def test_einops_is_told_whoever_comes_first(first, tmp_path):
    folder = tmp_path / "einops"
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import _backends\n")
    (folder / "_backends.py").write_text("class AbstractBackend:\n    pass\n")
    names = sorted(["taeda", "einops"], key=lambda name: name != first)
    run(f"""
import sys; sys.path.insert(0, {str(tmp_path)!r})
import {", ".join(names)}
(backend,) = einops._backends.AbstractBackend.__subclasses__()
assert backend.framework_name == 'taeda'
assert backend().reduce(taeda.ones(2, 3, 4) * 2, 'prod', (0, 2)).tolist() == [256.0] * 3
""")


def test_what_libraries_ask_of_private_modules_acts():
    run("""
import taeda
taeda.install_as_torch()
import torch
from torch.jit.annotations import BroadcastingList2, List
from torch.onnx.symbolic_helper import parse_args
from torch.distributed._tensor import DTensor
from torch._C import DisableTorchFunctionSubclass
assert not isinstance(torch.ones(1), DTensor)
assert parse_args('v', 'i')(len) is len and BroadcastingList2[int] == List[int]
assert torch._utils._element_size(torch.float64) == 8 and torch._utils._get_device_index('cuda:1') == 1
assert (
    torch._utils._get_device_index("cpu", allow_cpu=True) == -1
    and torch._utils._get_device_index(None, optional=True) is None
)
try:
    torch._utils._get_device_index('cpu')
except ValueError:
    pass
else:
    raise AssertionError
K, S = torch._C.DispatchKey, torch._C.DispatchKeySet
keys = S(K.AutocastCPU) | S(K.AutocastCUDA)
assert keys.has(K.AutocastCPU) and not keys.has(K.AutocastXPU)
a = torch.ones(2, 2)
with torch.autocast('cpu'):
    assert (a @ a).dtype == torch.bfloat16
    with torch._C._ExcludeDispatchKeyGuard(keys):
        assert (a @ a).dtype == torch.float32
    assert (a @ a).dtype == torch.bfloat16
try:
    torch._C._ExcludeDispatchKeyGuard(S(K.ADInplaceOrView))
except RuntimeError as error:
    assert 'ADInplaceOrView' in str(error)
else:
    raise AssertionError
""") if _has("taeda.amp") else pytest.skip("autocast comes with taeda-amp")


def test_libraries_find_the_profile_of_a_thread():
    if not (_has("taeda.autograd") and _has("taeda.profiler")):
        pytest.skip("profiles come with taeda-profiler, torch.autograd with taeda-autograd")
    run("""
import taeda
taeda.install_as_torch()
import torch
from torch.profiler.profiler import _default_schedule_fn
assert not torch.autograd._profiler_enabled()
with torch.profiler.profile():
    assert torch.autograd._profiler_enabled()
    torch.autograd._disable_profiler()
    assert not torch.autograd._profiler_enabled()
""")


def _has(module):
    return importlib.util.find_spec(module) is not None


PATCHED = """
import inspect, sys
from types import ModuleType
from unittest import mock
import taeda
taeda.install_as_torch()
import torch, torch.nn, torch.autograd, torch.cuda, torch.serialization, torch.compiler
import torch._utils, torch._dynamo

def stand_ins():
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] == "torch" and module is not sys.modules.get("taeda" + name[5:]):
            yield name, module

count = 0
for place, module in list(stand_ins()):
    for name in dir(module):
        if name[:2] == "__":
            continue
        try:
            before = getattr(module, name)
        except Exception:  # absent here, or its package is
            continue
        if isinstance(before, ModuleType) or getattr(module, name) is not before:
            continue  # a module is found by the import system; an answer made anew has no place
        with mock.patch.object(module, name) as mocked:
            assert getattr(module, name) is mocked, (place, name)
        assert getattr(module, name) is before, (place, name)
        count += 1
assert count > 500, count
assert taeda.add is torch.add and taeda.load is torch.load
with mock.patch("torch.add") as mocked:
    assert taeda.add is mocked
with mock.patch("torch.distributed.is_available", lambda: 7):
    assert torch.distributed.is_available() == 7
assert torch.distributed.is_available() is False
torch.something = 3
assert taeda.something == 3
del torch.something
assert not hasattr(torch, "something") and not hasattr(taeda, "something")
"""


def test_stand_ins_read_write_and_delete_in_one_place():
    done = subprocess.run(
        [sys.executable, "-c", PATCHED], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr


def test_text_of_dtypes_sizes_and_kinds_says_torch():
    run("""
import copy, io, pickle
import taeda
taeda.install_as_torch()
import torch
kinds = (torch.dtype, torch.layout, torch.memory_format)
names = [n for n in dir(taeda) if isinstance(getattr(taeda, n), kinds)]
assert len(names) > 30
for name in names:
    value = getattr(torch, name)
    text = str(value)
    assert text == repr(value) and text.startswith('torch.') and getattr(torch, text[6:]) is value, text
    assert copy.deepcopy(value) is value and pickle.loads(pickle.dumps(value)) is value
x = torch.ones(2, 3, dtype=torch.bfloat16)
assert str(x.shape) == 'torch.Size([2, 3])' and x.type() == 'torch.BFloat16Tensor', x.type()
assert x.type('torch.FloatTensor').type() == 'torch.FloatTensor' == torch.typename(torch.ones(1))
assert torch.finfo(torch.float16).dtype == 'float16' and torch.iinfo(torch.int8).dtype == 'int8'
assert torch.ones(1).numpy().dtype == 'float32'
assert torch.ones(1, dtype=torch.int16).storage().dtype is torch.int16
assert 'dtype=torch.bfloat16' in repr(x) and 'bfloat16' in x._repr_html_()
for name in ('a.pt', 'a.safetensors'):
    file = io.BytesIO()
    torch.save({'x': x, 'dtype': torch.int8} if name == 'a.pt' else {'x': x}, file)
    file.seek(0)
    assert torch.load(file)['x'].dtype is torch.bfloat16
""")


def test_private_modules_hide_no_name_of_ours():
    run("""
import importlib, sys
import taeda
before = {}
for name in ('func', 'autograd', 'optim', 'nn', 'fx'):
    try:
        before[name] = dict(vars(importlib.import_module(f'taeda.{name}')))
    except ModuleNotFoundError:
        pass
taeda.install_as_torch()
import torch
from taeda._torch_names.private import MODULES
for name in MODULES:
    importlib.import_module(name)
    for ours, held in before.items():
        now = vars(sys.modules[f'taeda.{ours}'])
        changed = [n for n, v in held.items() if n[:2] != '__' and callable(v) and now[n] is not v]
        assert not changed, (name, ours, changed)
assert callable(torch._functorch.apis.vmap) and callable(torch.vmap) and callable(torch.func.vmap)
""")


def test_traced_program_with_dtypes_runs_under_the_name():
    pytest.importorskip("taeda.fx")
    run("""
import taeda
taeda.install_as_torch()
import torch
traced = torch.fx.symbolic_trace(lambda x: x.to(torch.float64) + 1)
assert traced(torch.ones(1)).dtype is torch.float64
""")


def test_package_that_cannot_run_here_is_hidden_with_its_reason(tmp_path):
    (tmp_path / "torchao.py").write_text("raise SystemExit('it was imported')")
    run(f"""
import importlib.util, sys, warnings
sys.path.insert(0, {str(tmp_path)!r})
import taeda
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter('always')
    taeda.install_as_torch()
assert [w for w in told if 'torchao is installed, and hidden' in str(w.message)], told
assert importlib.util.find_spec('torchao') is None
try:
    import torchao
except ModuleNotFoundError:
    pass
else:
    raise AssertionError('torchao was found')
""")
    run("""
import sys, warnings
warnings.simplefilter('error')
import taeda
taeda.install_as_torch()
assert 'torchao' not in sys.modules
""")


def test_text_of_graphs_and_of_quantized_tensors_says_torch(tmp_path):
    pytest.importorskip("taeda.fx")
    run(
        """
import sys, taeda
taeda.install_as_torch()
import torch
from torch import nn

class Model(nn.Module):
    def forward(self, x, torch_=2):
        return torch.relu(x).to(torch.float64) + 1

traced = torch.fx.symbolic_trace(Model())
assert 'torch.relu(x)' in traced.code and 'torch.float64' in traced.code and 'taeda' not in traced.code
assert 'target=torch.relu' in str(traced.graph)
assert traced(-torch.ones(2)).tolist() == [1, 1]
space = {'torch': torch}
exec(traced.code, space)
assert space['forward'](traced, torch.ones(2)).tolist() == [2, 2]

def named(torch):
    return torch + 1

assert torch.fx.symbolic_trace(named)(torch.ones(1)).item() == 2
traced.to_folder(sys.argv[1], 'Kept')
assert str(torch.ops.aten.add.Tensor) == 'aten.add.Tensor'
assert str(torch.max(torch.ones(1, 1), 0)).startswith('torch.return_types.max(')
assert torch.overrides.resolve_name(torch.Tensor.add) == 'torch.Tensor.add'
x = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)
assert str(x.qscheme()) == 'torch.per_tensor_affine' and 'taeda' not in str(x)
""",
        str(tmp_path / "kept"),
    )
    run(
        """
import sys, taeda
sys.path.insert(0, sys.argv[1])
from kept import Kept
assert Kept()(-taeda.ones(2)).tolist() == [1, 1] and 'torch' not in sys.modules
""",
        str(tmp_path),
    )
