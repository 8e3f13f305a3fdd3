"""Sobol's sequence: its known first points, its evenness, and the engine's state."""

import numpy as np
import pytest

import taeda
from taeda.quasirandom import SobolEngine

FIRST = [[0, 0, 0], [0.5, 0.5, 0.5], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75], [0.375, 0.375, 0.625]]


def test_first_points():
    assert SobolEngine(3).draw(5).tolist() == FIRST


def test_equals_scipys_sequence_in_every_dimension():
    qmc = pytest.importorskip("scipy.stats.qmc", reason="scipy has the same direction numbers")
    ours = SobolEngine(SobolEngine.MAXDIM).draw(256, dtype=taeda.float64).numpy()
    theirs = qmc.Sobol(SobolEngine.MAXDIM, scramble=False, bits=30).random(256)
    assert (ours == theirs).all()


@pytest.mark.parametrize("scramble", [False, True])
@pytest.mark.parametrize("dimension", [1, 7, 40])
def test_every_dyadic_interval_holds_one_point(dimension, scramble):
    points = SobolEngine(dimension, scramble, seed=3).draw_base2(6, dtype=taeda.float64).numpy()
    for column in points.T:
        assert sorted(np.floor(column * 64).astype(int)) == list(range(64))


def test_points_do_not_depend_on_how_many_are_drawn_at_once():
    for scramble in (False, True):
        whole = SobolEngine(4, scramble, seed=0).draw(20)
        engine = SobolEngine(4, scramble, seed=0)
        parts = [engine.draw(3), engine.fast_forward(4).draw(1), engine.draw(12)]
        assert taeda.cat(parts).tolist() == taeda.cat([whole[:3], whole[7:]]).tolist()
        assert engine.num_generated == 20
        assert engine.reset().draw(20).tolist() == whole.tolist()


def test_refusals_and_forms():
    engine = SobolEngine(2, scramble=True, seed=5)
    assert repr(engine) == "SobolEngine(dimension=2, scramble=True, seed=5)"
    out = taeda.empty(0, dtype=taeda.float64)
    assert engine.draw(3, out=out, dtype=taeda.float64) is out
    assert out.shape == (3, 2)
    with pytest.raises(ValueError, match="power of 2"):
        engine.draw_base2(1)
    with pytest.raises(ValueError, match=r"\[1, 2000\]"):
        SobolEngine(2001)
    with pytest.raises(ValueError, match="got n=-1"):
        engine.draw(-1)
