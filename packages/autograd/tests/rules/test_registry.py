"""Every op has a rule or a stated reason, and a way for tangents."""

from __future__ import annotations

import subprocess
import sys

import taeda
from taeda._native import core
from taeda.autograd.rules import _registry

taeda.ones(1, requires_grad=True)  # the first that needs a rule loads them all

FACTORY = core.row_flags["FACTORY"]  # only shape and dtype of the arguments count


def test_every_kernel_has_a_rule_or_a_reason():
    owed = [
        name
        for name, _, kind, _, _, flags in core.op_rows()
        if kind != "composite" and not flags & FACTORY and not core.has_rule(name)
    ]
    assert owed == []


def test_every_way_of_a_tangent_names_an_op_with_a_rule_and_its_parameters():
    for name, found in _registry.tangents.items():
        parameters = [p for p, _ in core.op_parameters(name)]
        assert _registry.rules[name].formulas, name
        wanted = found.detail[1] if found.way == "formula" else found.detail or ()
        known = {
            *parameters,
            *(f"{p}_{fact}" for p in parameters for fact in ("t", "shape", "dtype")),
        }
        assert [p for p in wanted if p not in known and not p.startswith("result")] == [], name


def test_threads_that_differentiate_first_wait_for_the_rules():
    code = """if True:
        import taeda, threading
        barrier, slopes = threading.Barrier(8), []
        def work():
            barrier.wait()
            x = taeda.ones(3, requires_grad=True)
            (x * 2).mean().backward()
            slopes.append(x.grad.sum().item())
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert slopes == [2.0] * 8, slopes
    """
    subprocess.run([sys.executable, "-c", code], check=True)
