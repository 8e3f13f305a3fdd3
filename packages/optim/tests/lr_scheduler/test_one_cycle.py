"""One rise and one fall."""

from __future__ import annotations

from schedules import LR, Rates, cos

from taeda.optim import lr_scheduler as lrs


def one_cycle(step, total=10, share=0.3):
    up = share * total - 1
    if step <= up:
        return LR + (LR / 25 - LR) * cos(step / up)
    low = LR / 25 / 1e4
    return low + (LR - low) * cos((step - up) / (total - 1 - up))


class TestOneCycle(Rates):
    schedules = {
        "one cycle": (lambda o: lrs.OneCycleLR(o, LR, total_steps=10), one_cycle),
    }
