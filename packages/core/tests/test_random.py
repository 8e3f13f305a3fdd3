"""Seeding, and going back in the stream."""

from __future__ import annotations

import pytest

import taeda


def draws():
    return taeda.rand(5).tolist()


def test_the_same_seed_gives_the_same_numbers():
    assert taeda.manual_seed(3) is taeda.default_generator
    first = draws()
    taeda.manual_seed(3)
    assert draws() == first
    taeda.manual_seed(4)
    assert draws() != first


@pytest.mark.parametrize(
    ("seed", "stands_for"), [(-1, 2**64 - 1), (2**64 - 1, 2**64 - 1), (7.0, 7)]
)
def test_seeds_are_64_bits(seed, stands_for):
    taeda.manual_seed(seed)
    assert taeda.initial_seed() == stands_for


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_longer_seeds_are_refused(seed):
    with pytest.raises(ValueError, match="seed"):
        taeda.manual_seed(seed)


def test_what_is_no_number_is_no_seed():
    with pytest.raises(TypeError):
        taeda.manual_seed(None)


def test_seed_draws_a_new_one():
    assert taeda.seed() == taeda.initial_seed()
    assert taeda.seed() != taeda.seed()


def test_the_state_leads_back():
    taeda.manual_seed(1)
    state = taeda.get_rng_state()
    first = (draws(), taeda.randn(3).tolist(), taeda.randperm(5).tolist())
    taeda.set_rng_state(state)
    assert (draws(), taeda.randn(3).tolist(), taeda.randperm(5).tolist()) == first
    assert state.dtype == taeda.uint8


def test_a_fork_leaves_no_trace():
    taeda.manual_seed(1)
    state = taeda.get_rng_state().tolist()
    with taeda.random.fork_rng():
        draws()
    assert taeda.get_rng_state().tolist() == state
    with taeda.random.fork_rng(enabled=False):
        draws()
    assert taeda.get_rng_state().tolist() != state


def test_a_fork_names_devices_that_are_not_there():
    with pytest.raises(RuntimeError, match="cuda"), taeda.random.fork_rng(devices=[0]):
        pass


def test_the_generator_of_the_cpu_shares_no_state_with_a_graph():
    generator = taeda.Generator()
    with pytest.raises(NotImplementedError, match="get_state"):
        generator.graphsafe_get_state()
    with pytest.raises(NotImplementedError, match="set_state"):
        generator.graphsafe_set_state(taeda.Generator())
    with pytest.raises(TypeError, match="takes a generator"):
        generator.graphsafe_set_state(generator.get_state())
