"""What the distributions made of a categorical one share."""

import numpy as np
import pytest
from laws import t

import taeda
from taeda import distributions as D

KINDS = {
    "OneHotCategorical": D.OneHotCategorical,
    "Multinomial": lambda *given, **named: D.Multinomial(3, *given, **named),
    "RelaxedOneHotCategorical": lambda *given, **named: D.RelaxedOneHotCategorical(
        t(0.5), *given, **named
    ),
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_parameters_are_normalised(make):
    ours = make(t([1.0, 3.0]))
    assert ours.probs.tolist() == [0.25, 0.75]
    np.testing.assert_allclose(ours.logits.exp().numpy(), [0.25, 0.75])
    taeda.testing.assert_close(make(logits=t([5.0, 5.0 + np.log(3)])).probs, ours.probs)


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_the_check_of_parameters_can_be_left_out(make):
    with pytest.raises(ValueError, match="parameter probs"):
        make(t([2.0, -1.0]))
    assert make(t([2.0, -1.0]), validate_args=False).probs.tolist() == [2.0, -1.0]


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_shapes(make):
    ours = make(taeda.ones(4, 1, 3)).expand((2, 4, 5))
    assert (ours.batch_shape, ours.event_shape) == ((2, 4, 5), (3,))
    assert ours.sample((6,)).shape == (6, 2, 4, 5, 3)


def test_the_shape_of_the_parameter():
    assert D.OneHotCategorical(taeda.ones(4, 3)).param_shape == (4, 3)
