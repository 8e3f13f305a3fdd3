"""Functions at the top that do what a method of Tensor does."""

from __future__ import annotations

import os

import taeda
from taeda._torch_names import tensor_facts as facts


def test_answers():
    x = taeda.ones(2, requires_grad=True) * 2
    assert facts.detach_(x) is x and not x.requires_grad
    assert facts.get_device(x) == -1 and facts.is_distributed(x) is False
    assert facts.is_same_size(x, taeda.zeros(2)) and not facts.is_same_size(x, taeda.zeros(2, 1))
    assert facts.is_vulkan_available() is False and facts.init_num_threads() is None
    made = taeda.from_dlpack(facts.to_dlpack(x))
    assert made.data_ptr() == x.data_ptr()
    path = facts.get_file_path("taeda", "__init__.py")
    assert os.path.samefile(path, taeda.__file__)
