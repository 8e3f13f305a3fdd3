"""core.Unchanged: each kind of entry holds until its change; what is no entry is refused."""

from __future__ import annotations

import gc
import weakref

import pytest

from taeda._native import core


class Owner:
    def __init__(self):
        self.size = [3]


class Number(int):
    def __add__(self, other):
        return 5


def attribute():
    owner = Owner()
    return (0, owner, "size", owner.size), lambda: setattr(owner, "size", [3])


def item():
    held = {"k": [1]}
    return (1, held, "k", held["k"]), held.clear


def entries():
    held = {"k": [1], "z": 2}
    return (2, held, tuple(held), tuple(held.values())), lambda: held.update(k=[1])


def order():
    held = {"k": [1], "z": 2}
    return (2, held, tuple(held), tuple(held.values())), lambda: held.update(k=held.pop("k"))


def nothing_held():
    held = {}
    return (2, held, (), ()), lambda: held.update(k=1)


def items_of_a_list():
    held = [[1], 2]
    return (3, held, tuple(held), None), lambda: held.append(1)


def empty_list():
    held = []
    return (3, held, (), None), lambda: held.append(1)


def absent():
    held = {}
    return (4, held, "k", None), lambda: held.update(k=None)


def keys():
    held = {"k": 1}
    return (5, held, ("k",), None), lambda: held.update(z=1)


def operators():
    kind = type("Kind", (), {})
    return (6, kind, None, None), lambda: setattr(kind, "__add__", lambda a, b: 1)


def of_a_class():
    owner = Owner()
    return (7, owner, Owner, vars(owner)), lambda: setattr(
        owner, "__class__", type("O", (Owner,), {})
    )


def own_dict():
    owner = Owner()
    return (7, owner, Owner, vars(owner)), lambda: setattr(owner, "__dict__", {})


KINDS = [attribute, item, entries, order, nothing_held, items_of_a_list, empty_list, absent, keys,
         operators, of_a_class, own_dict]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_an_entry_holds_until_its_change(kind):
    entry, change = kind()
    alone, among = core.Unchanged((entry,)), core.Unchanged((attribute()[0], entry))
    assert alone() is True and among() is True
    change()
    assert alone() is False and among() is False


def test_nothing_is_unchanged():
    assert core.Unchanged(())() is True


def test_what_raises_on_the_way_has_changed():
    class Raises:
        @property
        def size(self):
            raise OSError

    assert core.Unchanged(((0, Raises(), "size", 1),))() is False


@pytest.mark.parametrize(
    "entry",
    [
        (), (0, 1, 2), (0, 1, 2, 3), (9, {}, "k", 1), ("0", {}, "k", 1), (1, [], 0, 1), (2, {}, (), (1,)),
        (2, {}, [], []), (3, (), (), None), (4, [], "k", None), (5, {}, ["k"], None), (6, 1, None, None),
        (7, 1, 2, {}), [0, 1, "k", 1],
    ],
)  # fmt: skip
def test_what_is_no_entry_is_refused(entry):
    with pytest.raises(TypeError, match="no entry"):
        core.Unchanged((entry,))


@pytest.mark.parametrize("given", [[], None, ((1,),)])
def test_other_arguments_are_refused(given):
    with pytest.raises(TypeError):
        core.Unchanged(given)


def test_it_is_collected_with_what_it_holds():
    owner = Owner()
    owner.again = core.Unchanged(((0, owner, "size", owner.size),))
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None
