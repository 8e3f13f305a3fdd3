"""What a program wastes: one class for each kind of waste, which follows the run and speaks at its end.

    _run.py         what is told of a run, and what a waste may ask
    calls.py        calls that cost more than their work
    values.py       types and copies that nobody wanted
    training.py     steps of training that are wrong or slow
    memory.py       memory that grows by the step
    models.py       models that are written the slow way
    machine.py      threads, loading, waiting for a device

Each finding names the line of the program, what to do, and what that may gain.
"""

from __future__ import annotations

from . import calls, machine, memory, models, training, values
from ._run import Call, Finding, Run, Waste

__all__ = ["WASTES", "Call", "Finding", "Run", "Waste"]

#: in the order in which they are told
WASTES: tuple[type[Waste], ...] = (
    training.KeptGradients,
    memory.RetainedGraphs,
    calls.SmallOperations,
    calls.GrowingConcatenation,
    calls.NumbersOfPython,
    values.Doubles,
    values.Copies,
    values.BytesNormalised,
    models.HandwrittenAttention,
    models.GraphsInEvaluation,
    training.FrozenParts,
    training.PlainOptimizers,
    machine.SlowLoading,
    machine.SmallBatches,
    machine.TooManyThreads,
    machine.Synchronisation,
    machine.Recompilation,
    calls.NumbersRead,
)
