"""The distribution `taeda` brings every package, and each brings its module."""

from __future__ import annotations

import importlib
import re
from importlib import metadata

import pytest

from taeda._parts import DISTRIBUTIONS
from taeda._parts.advice import NEEDS

# modules that a distribution brings besides its own
MORE = {
    "_dynamo": "taeda-compile",
    "_higher_order_ops": "taeda-compile",
    "_logging": "taeda-compile",
    "cpu.amp": "taeda-amp",
    "cuda.amp": "taeda-amp",
    "ao": "taeda-quantization",
    "compiler": "taeda-compile",
    "func": "taeda-autograd",
    "jit": "taeda-compile",
    "futures": "taeda-distributed",
    "nn.parallel": "taeda-distributed",
    "monitor": "taeda-profiler",
    "utils.bottleneck": "taeda-profiler",
    "utils.flop_counter": "taeda-profiler",
    "utils.tensorboard": "taeda-profiler",
    "utils.checkpoint": "taeda-autograd",
    "utils.module_tracker": "taeda-nn",
    **dict.fromkeys(
        ("nn.intrinsic", "nn.qat", "nn.quantizable", "nn.quantized"), "taeda-quantization"
    ),
}
MODULES = {
    "taeda-core": "taeda",
    "taeda-amp": "taeda.amp",
    "taeda-autograd": "taeda.autograd",
    "taeda-nn": "taeda.nn",
    "taeda-optim": "taeda.optim",
    "taeda-data": "taeda.utils.data",
    "taeda-compile": "taeda.fx",
    "taeda-export": "taeda.export",
    "taeda-masked": "taeda.masked",
    "taeda-nested": "taeda.nested",
    "taeda-quantization": "taeda.quantization",
    "taeda-vision-ops": "taeda.vision_ops",
    "taeda-onnx": "taeda.onnx",
    "taeda-benchmark": "taeda.utils.benchmark",
    "taeda-profiler": "taeda.profiler",
    "taeda-sparse": "taeda.sparse",
    "taeda-distributed": "taeda.distributed",
    "taeda-distributions": "taeda.distributions",
    "taeda-cpp-extension": "taeda.utils.cpp_extension",
}


def test_it_depends_on_every_package():
    required = {re.match("[a-z-]+", text)[0] for text in metadata.requires("taeda")}
    assert required == set(MODULES)


def test_what_is_not_installed_is_named_by_its_distribution():
    places = {sub: name for name, module in MODULES.items() if (sub := module.partition(".")[2])}
    assert places | MORE == DISTRIBUTIONS


@pytest.mark.parametrize("distribution", NEEDS)
def test_the_siblings_that_advice_names_are_those_that_are_declared(distribution):
    plain = [text for text in metadata.requires(distribution) if "extra ==" not in text]
    names = [re.match("[a-z0-9-]+", text)[0] for text in plain]
    assert {name for name in names if name.startswith("taeda-")} == {
        "taeda-core",
        *NEEDS[distribution],
    }
    for before, name in enumerate(NEEDS[distribution]):  # each after what it needs
        assert {*NEEDS[name]} <= {*NEEDS[distribution][:before]}


@pytest.mark.parametrize("distribution", MODULES)
def test_a_package_brings_its_module(distribution):
    assert metadata.version(distribution)
    assert importlib.import_module(MODULES[distribution]).__file__
