"""Every part that is installed brings its checks."""

from __future__ import annotations

from taeda._doctor import parts
from taeda._parts import advice as _advice


def test_every_part_that_is_installed_brings_its_checks():
    owners = {module.__name__.rpartition("._doctor")[0] for module in parts.modules()}
    assert "taeda" in owners
    assert ("taeda.autograd" in owners) is not _advice.missing("taeda-autograd")
    for module in parts.modules():
        assert module.CHECKS and all(
            map(callable, (*module.CHECKS.values(), *module.FACTS.values()))
        )
