"""Modules and packed sequences get the methods of a device type of one's own, whether nn is loaded
before or after they are asked for.
"""

import subprocess
import sys

import pytest

ASKED = """
import taeda
{before}
taeda.utils.rename_privateuse1_backend("npu")
taeda.utils.generate_methods_for_privateuse1_backend()
assert callable(taeda.nn.Module.npu)
assert callable(taeda.nn.utils.rnn.PackedSequence.npu)
assert isinstance(taeda.nn.utils.rnn.PackedSequence.is_npu, property)
"""


@pytest.mark.parametrize("before", ["import taeda.nn.utils.rnn", ""], ids=["before", "after"])
def test_classes_of_nn_are_dressed(before):
    command = [sys.executable, "-c", ASKED.format(before=before)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
