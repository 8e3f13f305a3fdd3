"""Arguments change: shapes, dtypes, values, containers, keywords."""

from __future__ import annotations

from collections import namedtuple

import taeda

from ._scenario import data, kept, scenario, thrice


@scenario("another shape")
def s_shape(c):
    f = c(lambda x: x.sum() / x.shape[0])
    return thrice(f, data(3, 4)) + thrice(f, data(5, 4)) + thrice(f, data(3, 4))


@scenario("another dtype")
def s_dtype(c):
    f = c(lambda x: x * 2 + 1)
    return thrice(f, data()) + thrice(f, data().double()) + thrice(f, taeda.arange(3))


@scenario("other strides")
def s_strides(c):
    f = c(lambda x: x.reshape(-1) * 2)
    return thrice(f, data(4, 4)) + thrice(f, data(4, 4).t()) + thrice(f, data(4, 8)[:, ::2])


@scenario("an expanded argument")
def s_expanded(c):
    f = c(lambda x, y: (x * 2 + y).sum(0))
    found = thrice(f, data(1, 4).expand(3, 4), data(3, 4))
    return found + thrice(f, data(3, 1).expand(3, 4), data(3, 4))


@scenario("a number as argument")
def s_number_argument(c):
    f = c(lambda x, k: x * k)
    return (
        thrice(f, data(), 2)
        + thrice(f, data(), 2.0)
        + thrice(f, data(), 3)
        + thrice(f, data(), True)
    )


@scenario("minus zero as argument")
def s_minus_zero(c):
    f = c(lambda x, k: (x * 0 + k).sign() / k)
    return thrice(f, data(), 0.0) + thrice(f, data(), -0.0)


@scenario("a string as argument")
def s_string_argument(c):
    f = c(lambda x, how: x.sin() if how == "sin" else x.cos())
    return thrice(f, data(), "sin") + thrice(f, data(), "cos")


@scenario("None or a tensor")
def s_none_argument(c):
    f = c(lambda x, bias=None: x if bias is None else x + bias)
    return thrice(f, data()) + thrice(f, data(), data(4)) + thrice(f, data(), bias=data(4))


@scenario("lists of tensors")
def s_list_argument(c):
    f = c(lambda xs: taeda.cat(xs) * len(xs))
    return thrice(f, [data()]) + thrice(f, [data(), data(seed=1)])


@scenario("a dict of tensors and numbers")
def s_dict_argument(c):
    f = c(lambda batch: batch["x"] * batch["k"])
    return thrice(f, {"x": data(), "k": 2.0}) + thrice(f, {"x": data(), "k": 3.0})


@scenario("the same tensor twice")
def s_same_tensor(c):
    def f(x, y):
        x.add_(1)
        return x * y

    g = c(f)
    found = [kept(g(data(), data(seed=1))) for _ in range(3)]
    for _ in range(3):
        x = data()
        found.append(kept(g(x, x)))
    return found


@scenario("arguments that overlap")
def s_overlap(c):
    def f(x, y):
        x.add_(1)
        return x * y

    g = c(f)
    found = [kept(g(data(4), data(4, seed=1))) for _ in range(3)]
    for _ in range(3):
        x = data(6)
        found.append(kept(g(x[:4], x[2:])))
    return found


@scenario("requires_grad of an argument")
def s_requires_grad(c):
    f = c(lambda x: x * 2)
    found = thrice(f, data())
    x = data().requires_grad_()
    y = f(x)
    y.sum().backward()
    return [*found, kept(y), y.requires_grad, kept(x.grad)]


@scenario("an argument is written in place")
def s_argument_written(c):
    def f(x):
        x.mul_(2)
        return x + 1

    g = c(f)
    found = []
    for _ in range(4):
        x = data()
        found += [kept(g(x)), kept(x)]
    return found


@scenario("an argument is written through a view")
def s_view_written(c):
    def f(x):
        row = x[0]
        row.zero_()
        x[1:, 2] = 7
        return x.sum(0)

    g = c(f)
    found = []
    for _ in range(4):
        x = data()
        found += [kept(g(x)), kept(x)]
    return found


@scenario("an argument is returned")
def s_returned(c):
    f = c(lambda x: (x, x + 1))
    x = data()
    return [f(x)[0] is x for _ in range(4)]


Batch = namedtuple("Batch", "x scale")


@scenario("a batch as a named tuple, and a number in it changes")
def s_named_batch(c):
    f = c(lambda batch: batch.x * batch.scale)
    return [kept(f(Batch(data(seed=n), 2.0 if n < 5 else 3.0))) for n in range(8)]
