"""The extension that docs/porting-extensions.md shows compiles and computes."""

import re
from pathlib import Path

import pytest

import taeda
from taeda.utils.cpp_extension import load

PAGE = Path(__file__).parents[2] / "docs" / "porting-extensions.md"


def test_the_example(tmp_path):
    (source,) = re.findall(r"```cpp\n(.*?)```", PAGE.read_text(), re.S)
    (tmp_path / "gelu_bias.cpp").write_text(source)
    ext = load("gelu_bias", [str(tmp_path / "gelu_bias.cpp")], build_directory=tmp_path)
    x, bias = taeda.randn(2, 3), taeda.randn(3)
    wanted = taeda.nn.functional.gelu(x + bias)
    assert taeda.allclose(ext.gelu_bias(x, bias), wanted, atol=1e-6)
    with pytest.raises(RuntimeError, match="2 biases for 3 columns"):
        ext.gelu_bias(x, taeda.ones(2))
