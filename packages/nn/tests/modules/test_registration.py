"""Assignment, deletion and registration of members, and all that is refused."""

from __future__ import annotations

import copy
import pickle

import pytest

import taeda
from taeda import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(taeda.ones(2))
        self.layer = nn.Linear(2, 2)
        self.register_buffer("total", taeda.zeros(1))
        self.size = 3


def where(module, name):
    """The table that holds a name, or "plain"."""
    for table in ("_parameters", "_buffers", "_modules"):
        if name in getattr(module, table):
            assert name in module.__dict__  # mirrored
            assert module.__dict__[name] is getattr(module, table)[name]
            return table
    return "plain" if name in module.__dict__ else None


# ---- what goes where ----


@pytest.mark.parametrize(
    ("value", "table"),
    [
        (lambda: nn.Parameter(taeda.ones(1)), "_parameters"),
        (lambda: nn.Buffer(taeda.ones(1)), "_buffers"),
        (lambda: nn.ReLU(), "_modules"),
        (lambda: taeda.ones(1), "plain"),
        (lambda: 5, "plain"),
        (lambda: None, "plain"),
    ],
)
@pytest.mark.parametrize("name", ["new", "size"])
def test_assignment_chooses_the_table(value, table, name):
    net, value = Net(), value()
    if table == "_buffers" and name == "size":  # a buffer does not take the place of an attribute
        with pytest.raises(KeyError, match="already exists"):
            setattr(net, name, value)
        assert where(net, name) == "plain"
        return
    setattr(net, name, value)
    assert where(net, name) == table
    assert getattr(net, name) is value
    delattr(net, name)
    assert where(net, name) is None
    assert not hasattr(net, name)


@pytest.mark.parametrize(
    ("name", "value", "table"),
    [
        ("weight", lambda: nn.Parameter(taeda.zeros(5)), "_parameters"),
        ("weight", lambda: None, "_parameters"),
        ("total", lambda: taeda.ones(3), "_buffers"),
        ("total", lambda: None, "_buffers"),
        ("total", lambda: nn.Parameter(taeda.ones(1)), "_parameters"),
        ("total", lambda: nn.ReLU(), "_modules"),
        ("layer", lambda: nn.ReLU(), "_modules"),
        ("layer", lambda: None, "_modules"),
        ("layer", lambda: nn.Parameter(taeda.ones(1)), "_parameters"),
    ],
)
def test_a_member_is_replaced(name, value, table):
    net, value = Net(), value()
    setattr(net, name, value)
    assert where(net, name) == table
    assert getattr(net, name) is value
    tables = [t for t in ("_parameters", "_buffers", "_modules") if name in getattr(net, t)]
    assert tables == [table]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("weight", lambda: taeda.ones(2), "'taeda.Tensor' as parameter 'weight'"),
        ("weight", lambda: 3, "'int' as parameter 'weight'"),
        ("weight", lambda: nn.ReLU(), "as parameter 'weight'"),
        ("weight", lambda: nn.Buffer(taeda.ones(1)), "as parameter 'weight'"),
        ("layer", lambda: 3, "'int' as child module 'layer'"),
        ("layer", lambda: taeda.ones(1), "as child module 'layer'"),
        ("total", lambda: 3, "'int' as buffer 'total'"),
    ],
)
def test_a_member_is_not_replaced_by_something_else(name, value, text):
    net = Net()
    before = getattr(net, name)
    with pytest.raises(TypeError, match=text):
        setattr(net, name, value())
    assert getattr(net, name) is before


# ---- register_* ----

REGISTER = [
    ("register_parameter", nn.Parameter(taeda.ones(1)), "parameter"),
    ("register_buffer", taeda.ones(1), "buffer"),
    ("add_module", nn.ReLU(), "module"),
    ("register_module", nn.ReLU(), "module"),
]


@pytest.mark.parametrize(("method", "value", "kind"), REGISTER)
def test_register_refuses_names(method, value, kind):
    register = getattr(Net(), method)
    with pytest.raises(KeyError, match=r"contain \"\.\""):
        register("a.b", value)
    with pytest.raises(KeyError, match="empty string"):
        register("", value)
    with pytest.raises(KeyError, match="'size' already exists"):
        register("size", value)
    with pytest.raises(KeyError, match="'forward' already exists"):
        register("forward", value)
    with pytest.raises(TypeError, match=f"{kind} name should be a string, got int"):
        register(3, value)


@pytest.mark.parametrize(("method", "value", "kind"), REGISTER)
def test_register_refuses_values_but_none(method, value, kind):
    net = Net()
    with pytest.raises(TypeError):
        getattr(net, method)("new", 3.5)
    getattr(net, method)("new", None)
    assert net.new is None
    assert "new" not in net.state_dict()
    getattr(net, method)("new", value)
    assert net.new is value


def test_a_computed_tensor_is_no_parameter():
    with pytest.raises(ValueError, match="non-leaf"):
        Net().register_parameter(
            "new", nn.Parameter(taeda.ones(1)).clone().as_subclass(nn.Parameter)
        )


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (lambda: nn.Parameter(taeda.ones(1)), "parameter"),
        (lambda: nn.ReLU(), "module"),
        (lambda: nn.Buffer(taeda.ones(1)), "buffer"),
    ],
)
def test_members_need_the_base_first(value, kind):
    class Early(nn.Module):
        def __init__(self):
            self.count = 3  # plain attributes are fine
            self.member = value()

    with pytest.raises(AttributeError, match=f"cannot assign {kind} before Module.__init__"):
        Early()


def test_persistence_follows_the_name():
    net = nn.Module()
    net.register_buffer("kept", taeda.ones(1))
    net.register_buffer("lost", taeda.ones(1), persistent=False)
    net.other = nn.Buffer(taeda.ones(1), persistent=False)
    assert list(net.state_dict()) == ["kept"]
    net.lost = taeda.zeros(2)
    assert list(net.state_dict()) == ["kept"]
    del net.lost
    net.register_buffer("lost", taeda.ones(1))
    assert list(net.state_dict()) == ["kept", "lost"]


# ---- tables and attributes agree ----


# ---- copies ----


def test_copies_keep_sharing():
    net = Net()
    net.tied = net.layer
    net.also = net.weight
    for other in (
        copy.deepcopy(net),
        pickle.loads(pickle.dumps(nn.ModuleList([net.layer, net.layer]))),
    ):
        pair = (other.layer, other.tied) if isinstance(other, Net) else (other[0], other[1])
        assert pair[0] is pair[1]
        assert pair[0].weight is pair[0]._parameters["weight"]
        assert pair[0].weight is not net.layer.weight
    assert copy.deepcopy(net).also is not net.weight


def test_a_shallow_copy_has_tables_of_its_own():
    net = Net()
    other = copy.copy(net)
    assert other.weight is net.weight
    other.weight = nn.Parameter(taeda.zeros(1))
    assert other.weight is not net.weight
    assert net.weight is net._parameters["weight"]


def test_modules_are_freed_without_the_collector():
    import gc
    import weakref

    gc.disable()
    try:
        net = Net()
        reference = weakref.ref(net)
        del net
        assert reference() is None
    finally:
        gc.enable()


# ---- construction ----


def test_arguments_of_the_base_are_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'a'"):
        nn.Module(a=1)
    with pytest.raises(TypeError, match="1 positional argument but 2 were given"):
        nn.Module(1)


def test_call_super_init_passes_arguments_on():
    class Mixin:
        def __init__(self, value):
            self.value = value

    class Both(nn.Module, Mixin):
        call_super_init = True

    assert Both(5).value == 5


def test_unknown_attributes_name_the_class():
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'nothing'"):
        Net().nothing
    assert {"weight", "layer", "total", "size"} <= set(dir(Net()))
