"""All wastes are told, each once."""

from taeda.profiler import _wastes
from taeda.profiler._wastes import calls, machine, memory, models, training, values


def test_each_waste_is_looked_for():
    parts = (calls, machine, memory, models, training, values)
    named = {getattr(part, name) for part in parts for name in part.__all__}
    assert set(_wastes.WASTES) == named and len(named) == len(_wastes.WASTES) >= 15
