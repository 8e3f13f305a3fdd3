"""Hooks on calls: their order, what they may change, and how they are taken off."""

from __future__ import annotations

import copy
import pickle

import pytest

import taeda
from taeda import nn
from taeda.nn.modules import module as registry


class Add(nn.Module):
    def __init__(self, log):
        super().__init__()
        self.log = log

    def forward(self, x, k=0):
        self.log.append("forward")
        return x + k


@pytest.fixture
def log():
    return []


@pytest.fixture
def add(log):
    return Add(log)


def note(log, name, result=None):
    def hook(*args):
        log.append((name, len(args)))
        return result(*args) if result else None

    return hook


def test_order(add, log, handles):
    handles += [
        registry.register_module_forward_hook(note(log, "global")),
        registry.register_module_forward_pre_hook(note(log, "global pre")),
    ]
    add.register_forward_pre_hook(note(log, "pre"))
    add.register_forward_pre_hook(note(log, "pre kwargs"), with_kwargs=True)
    add.register_forward_pre_hook(note(log, "first"), prepend=True)
    add.register_forward_hook(note(log, "post"))
    add.register_forward_hook(note(log, "post kwargs"), with_kwargs=True)
    add.register_forward_hook(note(log, "soonest"), prepend=True)
    assert add(1, k=2) == 3
    assert log == [
        ("global pre", 2),
        ("first", 2),
        ("pre", 2),
        ("pre kwargs", 3),
        "forward",
        ("global", 3),
        ("soonest", 3),
        ("post", 3),
        ("post kwargs", 4),
    ]


def test_hooks_replace_arguments_and_results(add):
    add.register_forward_pre_hook(lambda module, args: args[0] * 10)
    add.register_forward_pre_hook(lambda module, args, kwargs: (args, {"k": 7}), with_kwargs=True)
    add.register_forward_hook(lambda module, args, output: (args, output))
    assert add(1) == ((10,), 17)


def test_a_pre_hook_with_kwargs_returns_a_pair(add):
    add.register_forward_pre_hook(lambda module, args, kwargs: args, with_kwargs=True)
    with pytest.raises(RuntimeError, match="tuple of \\(new_args, new_kwargs\\)"):
        add(1)


def test_always_call_runs_after_an_error(add, log, handles):
    add.register_forward_hook(note(log, "usual"))
    add.register_forward_hook(
        lambda module, args, output: log.append(("always", output)), always_call=True
    )
    handles.append(
        registry.register_module_forward_hook(
            lambda module, args, output: log.append(("global", output)), always_call=True
        )
    )
    with pytest.raises(TypeError):
        add("text", k=1)
    assert log == ["forward", ("global", None), ("always", None)]


def test_an_error_in_a_hook_that_always_runs_is_a_warning(add):
    add.register_forward_hook(lambda *_: 1 / 0, always_call=True)
    with pytest.warns(UserWarning, match="ZeroDivisionError"), pytest.raises(TypeError):
        add("text", k=1)


def test_a_hook_may_remove_itself(add, log):
    def once(*_):
        log.append("once")
        handle.remove()

    handle = add.register_forward_hook(once)
    add.register_forward_hook(note(log, "other"))
    add(1)
    add(1)
    assert log == ["forward", "once", ("other", 3), "forward", ("other", 3)]


def test_handles_work_in_a_with_block_and_twice(add, log):
    with add.register_forward_hook(note(log, "inside")) as handle:
        add(1)
    add(1)
    handle.remove()
    assert log == ["forward", ("inside", 3), "forward"]


def test_a_hook_put_into_the_table_by_hand_runs(add, log):
    add._forward_hooks[12345] = note(log, "by hand")
    add(1)
    assert log == ["forward", ("by hand", 3)]


def halve(module, args):
    return args[0] / 2


def test_hooks_are_copied_and_pickled():
    net = nn.Identity()
    net.register_forward_pre_hook(halve)
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other(taeda.tensor(4.0)).item() == 2


def test_no_table_is_made_before_it_is_needed(add):
    add(1)  # after global hooks of other tests, this call notices that they are gone
    assert not [name for name in add.__dict__ if name.endswith("_hooks")]
    assert not add._hooked


class Forwarding(nn.Module):
    """Answers for names that it does not know by another module's."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def __getattr__(self, name):
        if name == "module":
            return super().__getattr__(name)
        return getattr(super().__getattr__("module"), name)

    def forward(self, x):
        return self.module(x)


class Refusing(nn.Linear):
    def __getattr__(self, name):
        raise AttributeError(f"{name} is refused")


REGISTER = [name for name in dir(nn.Module) if name.startswith("register_") and "hook" in name]


@pytest.mark.parametrize("register", REGISTER)
def test_hooks_belong_to_the_module_that_they_are_registered_on(register):
    inner = nn.Linear(2, 2)
    for module in (Forwarding(inner), Refusing(2, 2)):
        before = {name: len(table) for name, table in vars(inner).items() if "hooks" in name}
        getattr(module, register)(lambda *args, **kwargs: None)
        assert {n: len(table) for n, table in vars(inner).items() if "hooks" in n} == before
        assert any(table for name, table in vars(module).items() if "hooks" in name)


def test_every_table_is_found_before_getattr_is_asked():
    tables = [
        name
        for name in dir(nn.modules.module.Module)
        if name.endswith("_hooks") and name != "_taeda_expect_hooks"
    ]
    names = {"_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks",
        "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks",
        "_load_state_dict_post_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called",
        "_forward_pre_hooks_with_kwargs"}  # fmt: skip
    assert names >= set(tables)
    module = Refusing(1, 1)
    for name in names:
        table = getattr(module, name)
        assert table == {} and getattr(module, name) is table is vars(module)[name]
        assert not hasattr(nn.Module, name)
