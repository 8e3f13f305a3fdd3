"""The range that leaves little error, against all ranges within the row's ends."""

import pytest

import taeda

choose = taeda.choose_qparams_optimized


def error(x, upper, lower, steps):
    lower = lower.half().float()
    scale = ((upper - lower) / steps).half().float()
    made = ((x - lower) / scale).round().clamp(0, steps) * scale + lower
    return (x - made).square().sum().item()


@pytest.mark.parametrize(("bits", "share"), [(2, 0.8), (4, 1.0)])
def test_an_outlier_is_cut_off_where_that_helps(bits, share):
    x = taeda.cat([taeda.linspace(-1, 1, 300), taeda.tensor([3.0])])
    upper, lower = choose(x, 301, 100, 0.9, bits)
    assert upper.shape == lower.shape == (1,)
    steps = 2**bits - 1
    assert error(x, upper, lower, steps) <= share * error(x, x.amax(), x.amin(), steps)
    assert upper < 3 or bits == 4


def test_nothing_is_cut_off_with_a_share_of_0_and_of_equal_numbers():
    x = taeda.tensor([0.5, 1.0, 8.0, 9.0])
    assert [end.tolist() for end in choose(x, 3, 50, 0.0, 4)] == [[8.0], [0.5]]
    assert [end.tolist() for end in choose(taeda.full((5,), 2.5), 5, 50, 1.0, 4)] == [[2.5], [2.5]]


@pytest.mark.parametrize(
    "arguments",
    [(5, 10, 0.5, 4), (0, 10, 0.5, 4), (4, 0, 0.5, 4), (4, 10, 1.5, 4), (4, 10, 0.5, 9)],
)
def test_arguments_out_of_bounds_are_refused(arguments):
    with pytest.raises(RuntimeError, match="choose_qparams_optimized: "):
        choose(taeda.ones(4), *arguments)


def test_other_inputs_are_refused():
    with pytest.raises(TypeError, match="'input' must be Tensor"):
        choose(None, 1, 1, 0.5, 4)
    with pytest.raises(RuntimeError, match="float64"):
        choose(taeda.ones(4).double(), 4, 10, 0.5, 4)
    with pytest.raises(RuntimeError, match="finite"):
        choose(taeda.tensor([1.0, float("nan")]), 2, 10, 0.5, 4)
