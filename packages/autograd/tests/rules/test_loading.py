"""Rules are loaded when one is first needed; a Ctrl-C in the middle of that is no end."""

import subprocess
import sys

import pytest

INTERRUPTED = """
import taeda
from taeda._native import core

real, count = core.register_rule, 0

def register(*arguments):
    global count
    count += 1
    if count == {at}:
        raise KeyboardInterrupt
    return real(*arguments)

core.register_rule = register
try:
    taeda.ones(2, requires_grad=True)
except KeyboardInterrupt:
    pass
else:
    raise AssertionError("the interruption was lost")
x = taeda.full((2,), 3.0, requires_grad=True)
(x.exp() * x.sigmoid()).sum().backward()
e, s = taeda.exp(x.detach()), taeda.sigmoid(x.detach())
assert taeda.allclose(x.grad, e * s + e * s * (1 - s))
try:
    core.register_rule("exp", False, {{}}, -1)
except ValueError as error:
    assert "has a rule already" in str(error)
else:
    raise AssertionError("a second rule was taken")
"""


@pytest.mark.parametrize("at", [1, 2, 40, 300])
def test_an_interrupted_loading_is_taken_up_again(at):
    command = [sys.executable, "-c", INTERRUPTED.format(at=at)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
