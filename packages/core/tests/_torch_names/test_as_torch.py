"""`import torch` gives taeda where that was asked for. Each test has a process of its own, for it lasts."""

import subprocess
import sys

import pytest


def run(code):
    subprocess.run([sys.executable, "-c", code], check=True)


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
assert str(float32) == 'taeda.float32' and 'ones' in dir(torch)
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
    code = "import sys, types, taeda; sys.modules['torch'] = types.ModuleType('torch'); taeda.install_as_torch()"
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
