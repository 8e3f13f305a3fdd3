"""Attributes of objects and classes change."""

from __future__ import annotations

from dataclasses import dataclass

from ._scenario import data, scenario, thrice


class Config:
    rate = 2.0
    depth: int

    def __init__(self):
        self.bias = 1.0

    @property
    def double(self):
        return self.bias * 2

    def times(self, x):
        return x * self.bias


@scenario("an attribute of an object")
def s_attribute(c):
    cfg = Config()
    f = c(lambda x: x + cfg.bias)
    found = thrice(f, data())
    cfg.bias = 4.0
    return found + thrice(f, data())


@scenario("an attribute of a class")
def s_class_attribute(c):
    class Own(Config):
        pass

    cfg = Own()
    f = c(lambda x: x * cfg.rate)
    found = thrice(f, data())
    Own.rate = 4.0
    return found + thrice(f, data())


@scenario("an instance shadows its class")
def s_shadow(c):
    cfg = Config()
    f = c(lambda x: x * cfg.rate)
    found = thrice(f, data())
    cfg.rate = 9.0
    return found + thrice(f, data())


@scenario("what a property reads")
def s_property(c):
    cfg = Config()
    f = c(lambda x: x * cfg.double)
    found = thrice(f, data())
    cfg.bias = 5.0
    return found + thrice(f, data())


@scenario("what a method reads")
def s_method(c):
    cfg = Config()
    f = c(lambda x: cfg.times(x))
    found = thrice(f, data())
    cfg.bias = 5.0
    return found + thrice(f, data())


@scenario("a method is replaced on the class")
def s_method_replaced(c):
    class Own(Config):
        pass

    cfg = Own()
    f = c(lambda x: cfg.times(x))
    found = thrice(f, data())
    Own.times = lambda self, x: x - 100
    return found + thrice(f, data())


@scenario("getattr with a name")
def s_getattr(c):
    cfg = Config()
    f = c(lambda x: x * cfg.bias + getattr(cfg, "missing", 3.0))
    found = thrice(f, data())
    cfg.missing = 30.0
    return found + thrice(f, data())


@scenario("hasattr")
def s_hasattr(c):
    cfg = Config()
    f = c(lambda x: x * 2 if hasattr(cfg, "fast") else x)
    found = thrice(f, data())
    cfg.fast = True
    return found + thrice(f, data())


@scenario("an attribute of an argument")
def s_argument_attribute(c):
    cfg = Config()
    f = c(lambda x, cfg: x * cfg.bias)
    found = thrice(f, data(), cfg)
    cfg.bias = 5.0
    found += thrice(f, data(), cfg)
    return found + thrice(f, data(), Config())


@scenario("a frozen dataclass is exchanged")
def s_dataclass(c):
    @dataclass
    class Options:
        rate: float
        name: str = "a"

    options = Options(2.0)
    f = c(lambda x: x * options.rate if options.name == "a" else x)
    found = thrice(f, data())
    options.name = "b"
    return found + thrice(f, data())


@scenario("an object with __call__")
def s_callable_object(c):
    class Times:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return x * self.k

    times = Times(2.0)
    f = c(lambda x: times(x))
    found = thrice(f, data())
    times.k = 6.0
    return found + thrice(f, data())


@scenario("an object made inside")
def s_object_inside(c):
    def f(x):
        cfg = Config()
        cfg.bias = 3.0
        return cfg.times(x)

    return thrice(c(f), data()) + thrice(c(f), data(seed=2))
