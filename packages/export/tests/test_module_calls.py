"""How the exported module is called."""

from __future__ import annotations

from types import SimpleNamespace

import taeda
from taeda import nn
from taeda.export import ModuleCallEntry, export
from taeda.export.graph_signature import TensorArgument


def test_the_call_of_the_module():
    (entry,) = export(nn.Linear(3, 2), (taeda.ones(4, 3),)).module_call_graph
    assert isinstance(entry, ModuleCallEntry) and entry.fqn == ""
    call = entry.signature
    assert call.inputs == [TensorArgument("input_1")] and call.in_spec.num_leaves == 1
    call.replace_all_uses_with(SimpleNamespace(name="input_1"), SimpleNamespace(name="x"))
    assert call.inputs == [TensorArgument("x")]
