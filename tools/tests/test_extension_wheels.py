"""What the session says of wheels that are too large, and of calls that are too slow."""

from __future__ import annotations

from by_path import load

wheels = load("tools/ship/extension_wheels.py")
costs = load("benchmarks/extensions.py")


def test_a_wheel_is_named_only_at_its_limit():
    assert wheels.too_large({"template": 119_999, "setuptools": 29_999}) == []
    (told,) = wheels.too_large({"template": 120_000, "setuptools": 1})
    assert told.startswith("template: the extension's wheel has 120000 bytes")


def test_limits_of_calls_grow_with_what_a_built_in_operation_takes():
    calm = {"taeda built-in": 100.0, "taeda C++ operator": 251.0, "taeda custom_op": 399.0}
    assert [told.partition(":")[0] for told in costs.above(calm)] == ["taeda C++ operator"]
    assert costs.above(calm | {"taeda built-in": 140.0}) == []
