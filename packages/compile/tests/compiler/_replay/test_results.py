from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field
from typing import Any

import pytest

import taeda
from taeda.compiler._replay.results import Spent, builder

Pair = namedtuple("Pair", "a b")


def test_structures_are_made_of_outputs():
    spec = (
        dict,
        {"l": (list, [("slot", 1), ("value", 3)]), "n": ("named", Pair, [("slot", 0)] * 2)},
    )
    assert builder(spec)((5, 6)) == {"l": [6, 3], "n": Pair(5, 5)}


def test_a_spent_result_says_that_its_graph_is_used_up():
    made = builder(("consumed", 0, Spent(taeda.ones(2))))((taeda.ones(2),))
    with pytest.raises(RuntimeError, match="a second time"):
        made.sum().backward()


@dataclass
class Output:
    loss: Any
    logits: Any = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class Longer(Output):
    scale: float = 2.0


@dataclass(frozen=True)
class Point:
    place: Any
    scale: float = 2.0


@dataclass
class Noisy:
    value: Any

    def __post_init__(self):
        self.twice = self.value * 2


W = taeda.ones(3, requires_grad=True)
RECORDS = {
    "fields": lambda x: Output((x * W).sum(), x * W, {"k": x * 2}),
    "longer": lambda x: [Longer((x * W).sum(), scale=4.0), (x * W).exp()],
    "frozen": lambda x: Point((x * W).sum()),
    "changed": lambda x: changed(Output((x * W).sum())),
    "ordered": lambda x: OrderedDict(b=(x * W).sum(), a=OrderedDict(z=x.exp())),
}


def changed(output):
    output.loss = output.loss * 2
    output.more = output.loss.detach()
    return output


def flat(value):
    """Types, keys and tensors, in order."""
    if isinstance(value, taeda.Tensor):
        return [value]
    if isinstance(value, Output | Point):
        return [type(value), *flat(vars(value))]
    if isinstance(value, dict):
        return [type(value), *(e for k, v in value.items() for e in (k, *flat(v)))]
    return [e for v in value for e in flat(v)] if isinstance(value, list) else [value]


@pytest.mark.parametrize("kind", RECORDS)
def test_objects_of_dataclasses_and_ordered_dicts_are_made_anew(kind):
    program = RECORDS[kind]
    compiled = taeda.compile(program, backend="aot_eager")
    seen = []
    for _ in range(5):
        x = taeda.randn(3)
        expected, found = flat(program(x)), flat(compiled(x))
        seen.append(compiled(x))
        assert len(expected) == len(found)
        slopes = []
        for made in (expected, found):
            tensors = [t for t in made if isinstance(t, taeda.Tensor) and t.requires_grad]
            slopes += taeda.autograd.grad(sum(t.sum() for t in tensors), W)
        for a, b in zip([*expected, slopes[0]], [*found, slopes[1]], strict=True):
            assert a.equal(b) if isinstance(a, taeda.Tensor) else a == b
    assert len({id(one) for one in seen}) == len(seen)
    state = compiled.__taeda_compiled__
    assert [t.trusted for traces in state.traces.values() for t in traces] == [True], state.reasons


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (lambda x: Noisy(x), "__post_init__ runs"),
        (lambda x: [Output(x)] * 2, "that others hold"),
    ],
)
def test_objects_that_are_more_than_their_fields_stay_as_they_are(program, reason):
    compiled = taeda.compile(program)
    for _ in range(3):
        compiled(taeda.ones(2))
    assert reason in compiled.__taeda_compiled__.reasons[0]
