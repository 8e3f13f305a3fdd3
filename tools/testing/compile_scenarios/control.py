"""What calls happen in: modes, contexts, exceptions, grad or none."""

from __future__ import annotations

import math
from collections import OrderedDict

import taeda
from taeda import nn

from ._scenario import data, kept, scenario, thrice

SCALE = 2.0


@scenario("an exception is caught")
def s_caught(c):
    def f(x):
        try:
            return x @ x
        except RuntimeError:
            return x * 2

    return thrice(c(f), data(3, 4)) + thrice(c(f), data(4, 4))


@scenario("an exception comes out")
def s_raised(c):
    def f(x):
        if x.shape[0] > 3:
            raise ValueError("too long")
        return x * 2

    g, found = c(f), []
    for n in (3, 3, 3, 4, 4, 3):
        try:
            found.append(kept(g(data(n))))
        except ValueError as error:
            found.append(str(error))
    return found


@scenario("grad mode around the call")
def s_grad_mode(c):
    w = data(4, seed=3).requires_grad_()
    f = c(lambda x: x * w)
    found = []
    for _ in range(3):
        with taeda.no_grad():
            y = f(data())
        found += [kept(y), y.requires_grad]
    y = f(data())
    return [*found, kept(y), y.requires_grad]


@scenario("no_grad inside")
def s_no_grad_inside(c):
    w = data(4, seed=3).requires_grad_()

    def f(x):
        with taeda.no_grad():
            y = x * w
        return y * 2

    return thrice(c(f), data())


@scenario("the default dtype")
def s_default_dtype(c):
    f = c(lambda x: x + taeda.ones(4))
    found = thrice(f, data())
    taeda.set_default_dtype(taeda.float64)
    try:
        found += thrice(f, data())
    finally:
        taeda.set_default_dtype(taeda.float32)
    return found


@scenario("autocast around the call")
def s_autocast(c):
    f = c(lambda x: x @ x.t())
    found = thrice(f, data())
    with taeda.autocast("cpu", dtype=taeda.bfloat16):
        found += thrice(f, data())
    return found + thrice(f, data())


@scenario("a compiled function in another")
def s_nested(c):
    inner = c(lambda x: x * SCALE)
    f = c(lambda x: inner(x) + 1)
    return thrice(f, data()) + thrice(inner, data())


@scenario("comprehensions, unpacking, formats")
def s_syntax(c):
    names = ["a", "b"]

    def f(x, *rest, **named):
        parts = [x * k for k in range(3) if k]
        first, *others = parts
        text = f"{names[0]}{len(others):>2}"
        total = first + sum(others) + len(text)
        total += sum(rest, 0) + sum(named.values())
        return {k: total * n for n, k in enumerate(names)}

    g = c(f)
    found = thrice(g, data(), 1.0, 2.0, k=3)
    names.append("c")
    return found + thrice(g, data(), 1.0, 2.0, k=3)


@scenario("super() and class methods")
def s_super(c):
    class Base:
        k = 2.0

        def go(self, x):
            return x * self.k

        @classmethod
        def rate(cls):
            return cls.k

        @staticmethod
        def plus(x):
            return x + 1

    class Child(Base):
        def go(self, x):
            return super().go(x) + self.rate() + self.plus(x)

    child = Child()
    f = c(lambda x: child.go(x))
    found = thrice(f, data())
    Base.k = 3.0
    return found + thrice(f, data())


@scenario("recursion")
def s_recursion(c):
    def power(x, n):
        return x if n == 0 else power(x * x, n - 1)

    f = c(lambda x: power(x, 3))
    return thrice(f, data())


@scenario("map, scan and while_loop over functions that read a global")
def s_operators(c):
    from taeda import _higher_order_ops as ops

    global SCALE

    def f(x):
        rows = ops.map(lambda row: row * SCALE, x)
        total, steps = ops.scan(lambda a, b: (a + b * SCALE, a * b), x[0] * 0, rows)
        return ops.while_loop(lambda n, y: n < 3, lambda n, y: (n + 1, y * total), (0, steps))[1]

    f = c(f)
    found = thrice(f, data())
    SCALE = 3.0
    found += thrice(f, data())
    SCALE = 2.0
    return found


def doubled(x):
    return x * SCALE


@scenario("a tensor chooses a branch (`cond`), and a global of either changes")
def s_branch(c):
    global SCALE
    offset = data(4, seed=5)
    f = c(lambda x: taeda.cond(x.sum() > 0, doubled, lambda y: y.cos() + offset, (x + 1,)) * 2)
    found = [*thrice(f, data()), *thrice(f, data() - 5)]
    SCALE = 3.0
    found += [*thrice(f, data()), *thrice(f, data() - 5)]
    SCALE = 2.0
    return found


@scenario("a tensor chooses a layer, without gradients")
def s_layers(c):
    layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
    for n, layer in enumerate(layers):
        layer.weight.data, layer.bias.data = data(4, 4, seed=n), data(4, seed=n)
    f = c(lambda x: taeda.cond(x.sum() > 0, layers[0], layers[1], (x,)))
    with taeda.no_grad():
        found = [*thrice(f, data()), *thrice(f, data() - 5)]
        layers[1] = nn.Tanh()
        return [*found, *thrice(f, data()), *thrice(f, data() - 5)]


@scenario("a training step through a branch")
def s_branch_step(c):
    w = data(4, seed=3).requires_grad_()
    optimizer = taeda.optim.SGD([w], lr=0.1)

    def step(x):
        optimizer.zero_grad()
        y = taeda.cond(x.sum() > 0, lambda y: y.tanh() * 2, lambda y: (y * 3).exp(), (x * w,))
        loss = y.mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    f = c(step)
    return [kept((f(data(3, 4, seed=n) - n % 2), w)) for n in range(8)]


@scenario("layers of two branches get gradients by a value", eager=True)
def s_layer_gradients(c):
    layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
    for n, layer in enumerate(layers):
        layer.weight.data, layer.bias.data = data(4, 4, seed=n), data(4, seed=n)
    f = c(lambda x: taeda.cond(x.sum() > 0, layers[0], layers[1], (x,)))
    found = []
    for n in range(4):
        layers.zero_grad()
        f(data() - 5 * (n % 2)).sum().backward()
        found.append([None if p.grad is None else kept(p.grad) for p in layers.parameters()])
    return found


@scenario("a tensor says how often a loop runs (`while_loop`), and a global of its step changes")
def s_loop(c):
    from taeda._higher_order_ops import while_loop

    global SCALE
    f = c(
        lambda x: while_loop(lambda x: x.abs().sum() > 3, lambda x: (x / SCALE,), (x * 1,))[0] + 1
    )
    found = [*thrice(f, data()), *thrice(f, data() * 100), *thrice(f, data() * 0)]
    SCALE = 3.0
    found += [*thrice(f, data()), *thrice(f, data() * 100)]
    SCALE = 2.0
    return found


@scenario("a number that the score function of flex attention reads")
def s_flex(c):
    from taeda.nn.attention.flex_attention import create_block_mask, flex_attention

    global SCALE
    mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 6, 6, BLOCK_SIZE=2)
    f = c(lambda x: flex_attention(x, x, x, lambda s, b, h, q, k: s * SCALE + (q - k), mask))
    found = thrice(f, data(1, 2, 6, 4))
    SCALE = 3.0
    found += thrice(f, data(1, 2, 6, 4))
    SCALE = 2.0
    return found


@scenario("`grad`, `vmap` and `jacrev` of functions that read a global")
def s_transforms(c):
    global SCALE
    net = nn.Linear(4, 2)
    with taeda.no_grad():
        net.weight.copy_(data(2, 4))
        net.bias.zero_()

    def program(x):
        slopes = taeda.func.vmap(taeda.func.grad(lambda row: (net(row) * SCALE).exp().sum()))(x)
        return slopes, taeda.func.jacrev(lambda v: net(v).sin() * SCALE)(x[0])

    f = c(program)
    found = thrice(f, data())
    SCALE = 3.0
    found += thrice(f, data())
    SCALE = 2.0
    return found


@scenario("modules asked for their class, and walked with zip")
def s_asked(c):
    layers = nn.ModuleList([nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)])

    def f(x):
        for layer, factor in zip(layers, (1.0, 2.0, 3.0), strict=True):
            x = layer(x) * factor if isinstance(layer, nn.Linear) else layer(x)
        return x

    f = c(f)
    found = thrice(f, data())
    layers[1] = nn.Tanh()
    return found + thrice(f, data())


@scenario("an OrderedDict is reordered")
def s_ordered(c):
    table = OrderedDict(a=2.0, b=3.0)

    def f(x):
        for k, v in table.items():
            x = x * v if k == "a" else x + v
        return x

    g = c(f)
    found = thrice(g, data())
    table.move_to_end("a")
    return found + thrice(g, data())


@scenario("math of numbers")
def s_math(c):
    f = c(lambda x: x * math.sqrt(SCALE) + math.pi)
    return thrice(f, data())
