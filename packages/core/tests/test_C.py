"""Entry points of the core under the name that programs of the field expect."""

from __future__ import annotations

import taeda
from taeda import _C


def test_questions_have_answers():
    assert _C._get_accelerator() == taeda.device("cpu") == _C._get_accelerator(True)
    assert _C._get_tracing_state() is None and _C._log_api_usage_once("x") is None
    assert _C._nn.relu6(taeda.tensor([7.0])).item() == 6
    assert all(hasattr(_C, name) for name in _C.__all__)


def test_a_class_may_say_that_its_tensors_are_plain():
    class Plain(taeda.Tensor):
        __torch_function__ = _C._disabled_torch_function_impl
        __torch_dispatch__ = _C._disabled_torch_dispatch_impl

    made = taeda.ones(2).as_subclass(Plain)
    assert type(made) is Plain and type(made + 1) is taeda.Tensor
    assert isinstance(Plain, _C._TensorMeta)
