"""Private modules of torch: what stands in the tables exists. In a process of its own, for it lasts."""

import subprocess
import sys

import pytest

from taeda._torch_names.private import ELSEWHERE, FILLED, MODULES, fetched, made


@pytest.mark.parametrize("name", MODULES)
def test_what_a_table_names_is_there(name):
    missing = {n: v for n, v in MODULES[name].items() if n not in vars(made(name))}
    other = ("taeda.autograd", "taeda.compiler", "torch.")  # packages of their own; itself
    assert not {n: v for n, v in missing.items() if not v.startswith(other)}


def test_texts_name_what_they_stand_for():
    assert fetched("taeda.utils:hooks").__name__ == "taeda.utils.hooks"
    assert fetched(3) == 3
    assert set(ELSEWHERE) <= set(MODULES)
    assert set(FILLED[""]) >= {"Future", "_assert_async"}


def test_under_the_name_of_torch():
    code = """
import taeda
taeda.install_as_torch()
import torch
from torch._subclasses.fake_tensor import FakeTensor, is_fake
from torch._utils import _flatten_dense_tensors, _take_tensors, _unflatten_dense_tensors
from torch._ops import OpOverload, OpOverloadPacket
from torch.torch_version import TorchVersion
from torch._C._functorch import is_batchedtensor
from torch import _VF
from torch._tensor import Tensor
x = torch.ones(2)
assert not is_fake(x) and not isinstance(x, FakeTensor) and not is_batchedtensor(x)
assert isinstance(torch.ops.aten.add, OpOverloadPacket) and isinstance(torch.ops.aten.add.Tensor, OpOverload)
assert isinstance(torch.__version__, TorchVersion)
assert torch.__version__ > '2.2' and torch.__version__ >= (2, 13)
assert _VF.add(x, x).tolist() == [2, 2] and Tensor is torch.Tensor and torch._C.TensorBase is Tensor
assert torch._shape_as_tensor(x).tolist() == [2] and torch.torch is torch
torch._assert_async(x.sum() > 0, 'never said')
assert not torch._C._are_functorch_transforms_active()
assert torch._tensor_str.PRINT_OPTS.threshold == 1000 and torch._C._get_default_device() == 'cpu'
assert torch._convert_indices_from_coo_to_csr(torch.tensor([1]), 2).tolist() == [0, 0, 1]
from torch.distributed import rpc
assert not torch._C._is_tracing() and torch._C.is_grad_enabled()
try:
    torch.linalg.inv(torch.zeros(2, 2))
except torch._C._LinAlgError:
    pass
else:
    raise AssertionError('a singular matrix has no inverse')
assert not rpc.is_available() and repr(torch.ops.aten._sparse_addmm.default) == 'aten._sparse_addmm.default'
assert not hasattr(torch, '_frobnicate') and not hasattr(torch._utils, '_frobnicate')
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_of_libraries_that_map_their_own_classes():
    code = """
import taeda
taeda.install_as_torch()
import functorch, torch
from torch._functorch.vmap import _add_batch_dim, tree_flatten, Tensor
from torch._C._functorch import _remove_batch_dim
assert functorch.vmap is torch.vmap
assert Tensor is torch.Tensor and tree_flatten([1])[0] == [1]
assert torch._guards.active_fake_mode() is None
from torch._functorch.vmap import _create_batched_inputs
def whole(x):
    level = x._level
    return _remove_batch_dim(_add_batch_dim(torch.ones(2, 3), 1, level), level, 3, 1)
assert torch.vmap(whole)(torch.zeros(3)).shape == (3, 2, 3)
try:
    _create_batched_inputs([0], [torch.ones(2)], 0, None)
except RuntimeError as error:
    assert 'does not exist in taeda' in str(error)
else:
    raise AssertionError('made')
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_small_names_that_libraries_import():
    code = """
import warnings
import taeda
taeda.install_as_torch()
import torch
from torch._compile import _disable_dynamo
from torch._dynamo.utils import warn_once
from torch.fx._symbolic_trace import Tracer, compatibility
from torch.optim.optimizer import Optimizer, _get_value
from torch._C import _jit_set_profiling_executor
assert Tracer is taeda.fx.Tracer and Optimizer is taeda.optim.Optimizer
assert _get_value(torch.tensor(2.0)) == 2 and torch._disable_dynamo is _disable_dynamo
assert compatibility(is_backward_compatible=True)(run := lambda: 3) is run
assert _jit_set_profiling_executor(True) is False
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter('always')
    warn_once('once'), warn_once('once')
assert len(said) == 1
try:
    torch.mps.Event()
except RuntimeError as error:
    assert 'does not exist in taeda' in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)
