"""The names of nn are those that its files name."""

from __future__ import annotations

import importlib
import pkgutil

from taeda import nn


def test_modules_names_what_its_files_name():
    named = set()
    for found in pkgutil.iter_modules(nn.modules.__path__):
        module = importlib.import_module(f"taeda.nn.modules.{found.name}")
        named |= {n for n in getattr(module, "__all__", ()) if n in vars(nn.modules)}
    classes = {n for n in named if isinstance(vars(nn.modules)[n], type)}
    assert classes == set(nn.modules.__all__)


def test_nn_names_all_modules():
    assert set(nn.modules.__all__) < set(nn.__all__) and len(nn.__all__) == len(set(nn.__all__))
    assert all(hasattr(nn, name) for name in nn.__all__)
