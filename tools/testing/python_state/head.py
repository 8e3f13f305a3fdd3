"""What every program begins with: classes and functions whose state it reads."""

from __future__ import annotations

__all__ = ["HEAD"]

HEAD = """
import collections, dataclasses, functools, operator, types
import taeda
import taeda.nn.functional as F
from taeda import nn

class Plain:
    def __init__(self, **given):
        self.__dict__.update(given)
    def scaled(self, x):
        return x * self.k
    def update(self, x):
        self.n += 1
        return x * 2
    def push(self, x):
        self.log.append(1)
        return x * 2
    @property
    def twice(self):
        return self.k * 2
    def __getitem__(self, key):
        return self.k + key
    def __call__(self, x):
        return x * self.k

class Other(Plain):
    def scaled(self, x):
        return x * self.k * 10

class AD(dict):
    __getattr__ = dict.__getitem__

class AG(dict):
    __getattr__ = dict.get

class AP(dict):
    def __getattr__(self, key):
        try:
            return self[key]
        except KeyError:
            raise AttributeError(key)

class Proxy:
    def __init__(self, inner):
        self.inner = inner
    def __getattr__(self, key):
        return getattr(self.inner, key)

class Slots:
    __slots__ = ("k",)

class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.k, self.skip, self.names, self.cfg = 2.0, set(), [], {"n": {"d": [0]}}
        self.w = nn.Parameter(taeda.ones(3), requires_grad=False)
    def forward(self, x):
        return x * self.k * self.w

def scale_by(cfg, x):
    return x * cfg["k"]

def scale_by_keyword(x, *, cfg):
    return x * cfg["k"]
"""
