"""What crosses processes, pickles and copies is what torch sends: values, geometry, sharing,
gradients and refusals.
"""

from __future__ import annotations

import copy
import importlib
import pickle
from multiprocessing.reduction import ForkingPickler

import pytest

pytest.importorskip("torch")


def each(scenario):
    """What `scenario(library, its multiprocessing)` says of both libraries."""
    return [
        scenario(importlib.import_module(name), importlib.import_module(f"{name}.multiprocessing"))
        for name in ("taeda", "torch")
    ]


def said(action):
    """The name of the exception that an action ends with, or its result."""
    try:
        return action()
    except Exception as error:  # noqa: BLE001 - which one it is, is the answer
        return type(error).__name__


def facts(x):
    return (
        str(x.dtype).partition(".")[2],
        tuple(x.shape),
        x.stride(),
        x.requires_grad,
        x.is_leaf,
        x.is_conj(),
    )


VIEWS = {
    "whole": lambda x: x,
    "permuted": lambda x: x.permute(2, 0, 1),
    "strided": lambda x: x[:, ::2],
    "expanded": lambda x: x[:1].expand(4, 3, 4),
    "scalar": lambda x: x[1, 1, 1],
    "empty": lambda x: x[:0],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("way", ["queue", "pickle", "copy", "deepcopy"])
def test_geometry(view, way):
    def scenario(t, mp):
        x = VIEWS[view](t.arange(24.0).reshape(2, 3, 4))
        y = send(mp, x) if way == "queue" else WAYS[way](x)
        return facts(y), y.tolist(), y.is_set_to(x), x.is_shared()

    ours, theirs = each(scenario)
    assert ours == theirs


WAYS = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def send(mp, x):
    queue = mp.get_context("fork").SimpleQueue()
    queue.put(x)
    return queue.get()


def test_writes_views_and_gradients():
    def scenario(t, mp):
        x = t.ones(4, requires_grad=True)
        x.sum().backward()
        whole, part = send(mp, [x.detach(), x.detach()[2:]])
        part.fill_(7)
        y = send(mp, x)
        return x.tolist(), whole.tolist(), y.grad is None, x.grad.is_shared(), facts(y)

    ours, theirs = each(scenario)
    assert ours == theirs


def test_refusals():
    def scenario(t, mp):
        return (
            said(lambda: send(mp, t.ones(2, requires_grad=True) * 2)),
            said(lambda: mp.set_sharing_strategy("carrier pigeon")),
            said(lambda: copy.deepcopy(t.ones(2, requires_grad=True) * 2)),
            said(lambda: mp.get_context("carrier pigeon")),
            sorted(mp.get_all_sharing_strategies()),
            mp.get_sharing_strategy(),
        )

    ours, theirs = each(scenario)
    assert ours == theirs


def test_sharing_of_tensors_and_modules():
    def scenario(t, mp):
        net = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.BatchNorm1d(3))
        net(t.ones(4, 2)).sum().backward()
        weight = net[0].weight
        same = net.share_memory() is net and net[0].weight is weight
        shared = [x.is_shared() for x in (*net.parameters(), *net.buffers(), weight.grad)]
        x = t.zeros(3)
        return (
            same,
            shared,
            x.share_memory_() is x,
            t.empty(0).share_memory_().is_shared(),
            x.untyped_storage().filename,
        )

    ours, theirs = each(scenario)
    assert ours == theirs


def ends(i, how):
    if i == 1:
        if how == "raise":
            raise ValueError("seven")
        raise SystemExit(3)


@pytest.mark.parametrize("how", ["raise", "exit", "well"])
def test_processes_started_together(how):
    def scenario(t, mp):
        module = importlib.import_module(f"{mp.__name__}.spawn")
        try:
            return module.start_processes(
                ends,
                (how if how != "well" else "",),
                nprocs=2 if how != "well" else 1,
                start_method="fork",
            )
        except module.ProcessException as error:
            return (
                type(error).__name__,
                error.error_index,
                "seven" in str(error),
                getattr(error, "exit_code", None),
            )

    ours, theirs = each(scenario)
    assert ours == theirs


def test_handles_are_small():
    ours, theirs = each(lambda t, mp: len(ForkingPickler.dumps(t.zeros(1 << 20))))
    assert ours < 4 * theirs
