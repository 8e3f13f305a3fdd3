"""Every argument of a public class or function has its line in the docstring, with its true default."""

from __future__ import annotations

import inspect
import re
from enum import Enum

import by_path
import pytest

held = by_path.load("tools/hold/arguments.py")
DESCRIBED = (
    "taeda.nn", "taeda.nn.init", "taeda.nn.parameter", "taeda.nn.utils",
    "taeda.nn.utils.parametrizations", "taeda.nn.utils.parametrize", "taeda.nn.utils.prune",
    "taeda.nn.utils.rnn", "taeda.nn.utils.stateless", "taeda.optim", "taeda.optim.lr_scheduler",
    "taeda.optim.swa_utils", "taeda.utils.data", "taeda.amp", "taeda.autograd", "taeda.func",
    "taeda.utils.checkpoint",
)  # fmt: skip
#: where rows of the table stand, too, and signatures of several forms
DEFAULTS_SAID = sorted({*DESCRIBED, *held.FLOORS})
#: of what a call in another form has not: the signature of all forms says None
SOME_FORMS = "(in some forms only)"
LINE = re.compile(r"^ {4}(\*{0,2}\w+(?:, \*{0,2}\w+)*): (.*(?:\n {8}.*)*)", re.M)


def entries(value):
    """{argument: its text} of the Args block of an object."""
    block = (inspect.getdoc(value) or "").partition("Args:\n")[2].partition("\n\n")[0]
    found = {}
    for names, text in LINE.findall(block):
        found |= dict.fromkeys(names.replace("*", "").split(", "), re.sub(r"\s+", " ", text))
    return found


def public(place):
    """The functions and classes of a module, or the methods of a class, with their signatures."""
    for name, value in held.members(held.place(place)):
        try:
            signature = inspect.signature(value)
        except (ValueError, TypeError):  # made in C, which has no arguments to describe
            continue
        yield name, value, signature


def numbers_in(text):
    found = re.findall(r"(-?[\d.]*\d(?:e-?\d+)?)(?: ?/ ?(\d+))?", text)
    return {float(whole) / int(part or 1) for whole, part in found}


@pytest.mark.parametrize("place", DESCRIBED)
def test_every_argument_has_its_line(place):
    missing = []
    for name, value, signature in public(place):
        wanted = {argument for argument in signature.parameters if argument[0] != "_"}
        missing += [f"{name}.{argument}" for argument in wanted - entries(value).keys()]
    assert not missing


@pytest.mark.parametrize("place", DEFAULTS_SAID)
def test_a_described_argument_exists_and_its_default_is_the_true_one(place):
    wrong = []
    for name, value, signature in public(place):
        open_ended = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
        for argument, text in entries(value).items():
            if argument not in signature.parameters:
                wrong += [] if open_ended else [f"{name} has no {argument}"]
                continue
            default = signature.parameters[argument].default
            if isinstance(default, float):
                if default not in numbers_in(text):
                    wrong.append(f"{name}.{argument} is {default}: {text}")
            elif isinstance(default, (bool, int, str, Enum)) or default is None:
                shown = f'"{default}"' if isinstance(default, str) else str(default)
                if isinstance(default, Enum):
                    shown = f"{type(default).__name__}.{default.name}"
                wanted = {shown, f"'{default}'"} | ({SOME_FORMS} if default is None else set())
                if not any(words in text for words in wanted):
                    wrong.append(f"{name}.{argument} is {shown}: {text}")
    assert not wrong
