from __future__ import annotations

import pytest

import taeda


def runs(f, *args):
    """The function, compiled and trusted, on copies of the arguments; and the function itself."""
    compiled = taeda.compile(f)
    for _ in range(3):
        found = compiled(*(a.clone() for a in args))
    ((trace,),) = compiled.__taeda_compiled__.traces.values()
    assert trace.trusted
    return found, f(*(a.clone() for a in args))


def equal(found, expected):
    assert found.dtype == expected.dtype
    assert found.stride() == expected.stride()
    assert found.equal(expected)


@pytest.mark.parametrize("n", [16383, 16384, 16385, 40000, 100001])
@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64])
def test_a_chain_gives_the_bits_of_its_operations(n, dtype):
    def f(x, y):
        z = x.sin() * 2 + y
        w = (z - x).tanh() * z.exp()
        return w.abs().sqrt() + y * 0.5 - 1

    equal(*runs(f, taeda.rand(n, dtype=dtype), taeda.randn(n, dtype=dtype)))


def test_writes_among_the_steps():
    def f(x):
        y = x * 2
        y.add_(x)
        z = y.exp()
        y.mul_(z)
        x.sub_(y)
        return y + z + x

    equal(*runs(f, taeda.rand(300, 100)))


def test_an_argument_is_written_and_seen_outside():
    f = taeda.compile(lambda x: x.mul_(2).add_(1))
    for _ in range(4):
        x = taeda.ones(20000)
        f(x)
        assert x.equal(taeda.full((20000,), 3.0))


def test_views_that_overlap_are_not_mixed():
    def f(x):
        a = x[:-1] * 1
        x[1:].add_(a)
        x[:-1].mul_(2)
        return x * 3 + 1

    equal(*runs(f, taeda.rand(30000)))


def test_other_shapes_between():
    def f(x, y):
        a = x.sin() + 1
        b = y.cos() * 2
        c = a * 3
        return (a + c).sum() + (b * 2).sum(), c, b.t() + 1

    found, expected = runs(f, taeda.rand(20000), taeda.rand(150, 150))
    for a, b in zip(found, expected, strict=True):
        equal(a, b)


def test_broadcast_and_numbers_of_no_dimension():
    def f(x, y):
        s = y.mean()
        return ((x + s) * y).relu() - x.max()

    equal(*runs(f, taeda.randn(200, 100), taeda.randn(100)))


def test_more_values_than_scratch_holds():
    def f(x):
        parts = [x * k for k in range(40)]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total, parts[7] + 1

    found, expected = runs(f, taeda.rand(20000))
    for a, b in zip(found, expected, strict=True):
        equal(a, b)


def test_a_failure_leaves_what_was_written_before_it():
    def f(x, index):
        x.add_(1)
        x.mul_(2)
        return x[index]

    compiled = taeda.compile(f)
    for _ in range(3):
        compiled(taeda.ones(20000), taeda.tensor([1, 2]))
    x = taeda.ones(20000)
    with pytest.raises(IndexError):
        compiled(x, taeda.tensor([1, 99999]))
    assert x.equal(taeda.full((20000,), 4.0))


def test_the_same_bits_for_any_number_of_threads():
    x = taeda.randn(70001)
    f = taeda.compile(lambda x: (x.sin() * x + 1).tanh() * 2)
    for _ in range(3):
        f(x)
    before = taeda.get_num_threads()
    try:
        found = []
        for n in (1, 2, 3):
            taeda.set_num_threads(n)
            found.append(f(x))
    finally:
        taeda.set_num_threads(before)
    assert found[0].equal(found[1])
    assert found[0].equal(found[2])


def test_an_allocation_that_fails_raises_and_leaves_a_program_that_runs():
    from taeda._native import core

    def f(x):
        y = x.sin() * 2
        z = taeda.where(x > 0.5, (y + x).exp(), 0) * (y < 1)  # the bools become numbers
        return taeda.cat([z, y]).sum(), y - z

    x = taeda.rand(20000)
    compiled = taeda.compile(f)
    for _ in range(3):
        expected = compiled(x)
    failed = 0
    for n in range(1, 30):
        core.memory_fail_at(n)
        try:
            compiled(x)
        except MemoryError:
            failed += 1
        finally:
            core.memory_fail_at(0)
        assert all(a.equal(b) for a, b in zip(compiled(x), expected, strict=True))
    assert failed


def test_bools_beside_floats_of_any_layout():
    def f(x, m):
        made = x * m + (x > 0)
        x.mul_(m)
        return made, x + made.mul_(m)

    compiled = taeda.compile(f)
    masks = [taeda.rand(130, 140) < 0.5, taeda.rand(140) < 0.5, taeda.tensor(True)]
    masks += [masks[0].t().contiguous().t(), taeda.rand(130, 280)[:, ::2] < 0.5]
    for mask in masks * 3:
        x = taeda.randn(130, 140)
        other = x.clone()
        for a, b in zip(compiled(x, mask), f(other, mask), strict=True):
            assert a.equal(b)
            assert a.stride() == b.stride()
        assert x.equal(other)
    assert not compiled.__taeda_compiled__.reasons


def test_a_bool_is_no_target_of_floats():
    f = taeda.compile(lambda x, m: m.mul_(x))
    for _ in range(3):
        with pytest.raises(RuntimeError, match="can't be cast to the desired output type Bool"):
            f(taeda.randn(20000), taeda.rand(20000) < 0.5)
