"""Programs as graphs: traced, looked at, changed, and written out as Python again.

>>> import taeda
>>> from taeda.fx import symbolic_trace
>>> class Model(taeda.nn.Module):
...     def __init__(self):
...         super().__init__()
...         self.linear = taeda.nn.Linear(4, 5)
...     def forward(self, x):
...         return self.linear(x).clamp(min=0.0)
>>> print(symbolic_trace(Model()).graph)
graph():
    %x : [num_users=1] = placeholder[target=x]
    %linear : [num_users=1] = call_module[target=linear](args = (%x,), kwargs = {})
    %clamp : [num_users=1] = call_method[target=clamp](args = (%linear,), kwargs = {min: 0.0})
    return clamp
"""

from __future__ import annotations

from taeda._core_api import lazy_attributes

from ._symbolic_trace import Tracer, symbolic_trace, wrap
from ._trees import PH
from .graph import Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_aggregate, map_arg
from .proxy import Proxy
from .subgraph_rewriter import replace_pattern

__all__ = [
    "PH", "Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "has_side_effect",
    "map_aggregate", "map_arg", "replace_pattern", "symbolic_trace", "wrap",
]  # fmt: skip

__getattr__, __dir__ = lazy_attributes(
    __name__, {name: f"fx.{name}:" for name in ("experimental", "passes")}
)
