from __future__ import annotations

import pytest

import taeda
from taeda.compiler._call.watched import observed
from taeda.compiler._watch.observer import Observer


@pytest.fixture
def watch():
    """watch(function, *arguments) -> (its observer, its result)"""

    def run(function, *args, strict=False):
        observer = Observer(strict=strict)
        for number, value in enumerate(args):
            if isinstance(value, taeda.Tensor):
                observer.recorder.add_input("argument", number, value)
            else:
                observer.mark(value)
        return observer, observed(observer, function, args, {})

    return run
