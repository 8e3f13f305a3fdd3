"""What a program wastes, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import taeda

from ._collect import Range
from ._watch import Watch

__all__ = ["advice"]

MANY = 64  # small operations of one line in one step
STEPS = 5  # below that nothing is said of every step


def advice(watch: Watch) -> list[str]:
    """A sentence or two for each waste that was found, the most telling first."""
    return [
        *_gradients(watch),
        *_loops(watch),
        *_doubles(watch),
        *_optimizers(watch),
        *_reads(watch),
    ]


def _loops(watch: Watch) -> Iterator[str]:
    most: Counter[str] = Counter()
    for (place, name, _), count in watch.small.items():
        if not name.startswith("aten::_fused"):
            most[place] = max(most[place], count)
    for place, count in most.most_common(3):
        if count >= MANY:
            yield (
                f"{place} runs an operation on a few numbers {count} times in one step. Each call costs "
                "more than its arithmetic: put the numbers into one tensor and call once."
            )


def _reads(watch: Watch) -> Iterator[str]:
    for place, steps in sorted(watch.reads.items(), key=lambda read: -len(read[1]))[:5]:
        if watch.step >= STEPS and len(steps) >= 0.9 * watch.step:
            yield (
                f"{place} makes a number of a tensor in every step, and the program waits for it. "
                "Add up in a tensor (detach it), and read the sum once in a while."
            )


def _doubles(watch: Watch) -> Iterator[str]:
    meant = watch.double_weights or taeda.get_default_dtype() is taeda.float64
    count = sum(watch.doubles.values())
    if watch.doubles and not meant and count >= 0.1 * watch.made:
        place = max(watch.doubles, key=lambda one: watch.doubles[one])
        yield (
            f"{place} computes in float64, though weights and default are float32 or less: "
            f"{100 * count // watch.made} % of all numbers made are float64. Data from NumPy are often "
            "float64: convert them once, x.float()."
        )


def _gradients(watch: Watch) -> Iterator[str]:
    if watch.step >= 3 and watch.kept_gradients >= watch.step - 1:
        yield (
            "No step cleared the gradients, so each adds to those of all before it. Call "
            "optimizer.zero_grad() before backward()."
        )


def _optimizers(watch: Watch) -> Iterator[str]:
    seen = set()
    for one in watch.ranges:
        if one.name.startswith("Optimizer.step#") and one.name not in seen:
            seen.add(one.name)
            names = [child.name for child in _below(one)]
            if len(names) >= 12 and not any(name.startswith("aten::_fused") for name in names):
                yield (
                    f"{one.name} runs {len(names)} operations in one step. An optimizer of taeda.optim "
                    "with a fused form (Adam, AdamW, SGD; leave foreach and fused unset) runs one."
                )


def _below(one: Range) -> Iterator[Range]:
    for child in one.children or ():
        yield child
        yield from _below(child)
