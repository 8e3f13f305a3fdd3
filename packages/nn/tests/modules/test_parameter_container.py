"""Parameters in lists and dicts."""

from __future__ import annotations

from collections import OrderedDict

import taeda
from taeda import nn


def test_parameter_list():
    values = nn.ParameterList([taeda.ones(2), nn.Parameter(taeda.zeros(1)), "text"])
    assert isinstance(values[0], nn.Parameter)
    assert values[-1] == "text"
    assert len(list(values.parameters())) == 2
    values += [taeda.ones(3)]
    assert [type(v).__name__ for v in values[2:]] == ["str", "Parameter"]
    values[0] = taeda.zeros(4)
    assert values[0].shape == (4,)
    assert list(values.state_dict()) == ["0", "1", "3"]
    assert repr(nn.ParameterList([taeda.ones(2, 3), 5])) == (
        "ParameterList(\n    (0): Parameter containing: [taeda.float32 of size 2x3]\n"
        "    (1): Object of type: int\n)"
    )


def test_parameter_dict_orders_plain_dicts():
    values = nn.ParameterDict({"b": taeda.ones(1), "a": taeda.ones(1)})
    assert list(values) == ["a", "b"]
    ordered = OrderedDict(b=taeda.ones(1), a=taeda.ones(1))
    assert list(nn.ParameterDict(ordered)) == ["b", "a"]


def test_parameter_dict():
    values = nn.ParameterDict({"a": taeda.ones(1)})
    values["b"] = taeda.zeros(2)
    assert values.setdefault("c", taeda.ones(3)).shape == (3,)
    assert values.get("z", 7) == 7
    assert len(list(values.parameters())) == 3
    assert list(reversed(values)) == ["c", "b", "a"]
    assert list((values | {"d": taeda.ones(1)}).keys()) == ["a", "b", "c", "d"]
    assert [k for k, _ in values.copy().items()] == ["a", "b", "c"]
    assert values.popitem()[0] == "c"
    assert values.pop("a").shape == (1,)
    assert list(values.fromkeys(["x", "y"], 1).values()) == [1, 1]
    values.clear()
    assert len(values) == 0
    assert list(values.parameters()) == []
