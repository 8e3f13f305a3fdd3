from __future__ import annotations

import taeda
from taeda import nn


def test_a_tree_is_guarded_once(watch):
    net = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2)))
    observer, _ = watch(lambda x: net(net(x)), taeda.ones(1, 2))
    assert observer.active
    assert {id(m) for m in net.modules()} <= set(observer.guards.modules)
    assert all(observer.is_old(p) for p in net.parameters())


def test_another_mode_or_parameter_fails_the_guards(watch):
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    observer, _ = watch(lambda x: net(x), taeda.ones(1, 2))
    holds, _ = observer.guards.compiled()
    assert holds()
    net.eval()
    assert not holds()
    net.train()
    net[0].bias = None
    assert not holds()
