"""Nodes give way to others in a copy; a program without such nodes stays itself."""

from __future__ import annotations

import taeda
from taeda import nn
from taeda.export import export
from taeda.export._pt2._rewriting import rewritten


class Program(nn.Module):
    def forward(self, x):
        return taeda.cond(x.sum() > 0, lambda x: x.sin() + 1, lambda x: x.cos(), (x,))


def is_sine(node):
    return str(node.target) == "aten.sin.default"


def cosine_for(gm, node):
    with gm.graph.inserting_before(node):
        made = gm.graph.call_function(taeda.ops.aten.cos.default, node.args)
    node.replace_all_uses_with(made)
    gm.graph.erase_node(node)


def test_inner_functions_are_rewritten_and_the_program_stays():
    gm = export(Program(), (taeda.ones(3),)).graph_module
    x = taeda.ones(3)
    before = gm(x)[0]
    made = rewritten(gm, is_sine, cosine_for)
    assert made is not gm
    assert taeda.equal(made(x)[0], x.cos() + 1)
    assert taeda.equal(gm(x)[0], before)
    assert rewritten(made, is_sine, cosine_for) is made
