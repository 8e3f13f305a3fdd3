"""Classes say torch where taeda stands under its name, and what is written of them is what it was."""

import subprocess
import sys

import pytest


def run(code, *arguments):
    subprocess.run([sys.executable, "-c", code, *arguments], check=True)


VALUES = """
import torch
values = [torch.ones(2), torch.float16, torch.device('cpu'), torch.Size([2, 3]), torch.strided,
          torch.channels_last, torch.Generator(), torch.finfo(torch.float32), torch.iinfo(torch.int8)]
"""


def test_classes_of_values_have_the_modules_of_torch():
    run(f"""
import taeda
taeda.install_as_torch()
{VALUES}
for value in values:
    kind = type(value)
    assert kind.__module__.split('.')[0] == 'torch' and 'torch' in str(kind), kind
    assert getattr(torch, kind.__name__) is kind
assert torch.typename(torch.Size) == 'torch.Size'
""")


def test_pickles_can_be_read_where_taeda_has_not_taken_the_name(tmp_path):
    path = str(tmp_path / "x.pkl")
    run(
        f"""
import pickle, sys, taeda
taeda.install_as_torch()
{VALUES}
kept = [value for value in values if not isinstance(value, (torch.Generator, torch.finfo, torch.iinfo))]
for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
    text = pickle.dumps(kept, protocol)
    assert b'torch' not in text.replace(b'taeda._torch_names', b''), text
open(sys.argv[1], 'wb').write(text)
""",
        path,
    )
    run(
        """
import pickle, sys, taeda
x, kind, device, size, layout, form = pickle.load(open(sys.argv[1], 'rb'))
assert x.tolist() == [1, 1] and kind is taeda.float16 and device == taeda.device('cpu')
assert type(size) is taeda.Size and size == (2, 3)
assert layout is taeda.strided and form is taeda.channels_last
assert 'torch' not in sys.modules
""",
        path,
    )


def test_parameters_say_torch_and_are_saved_copied_and_compiled():
    pytest.importorskip("taeda.nn")
    run("""
import copy, io, pickle
import taeda
taeda.install_as_torch()
import torch
from torch import nn
layer, late = nn.Linear(2, 3), nn.LazyLinear(3)
for value in (layer.weight, late.weight, late.bias):
    assert type(value).__module__ == 'torch.nn.parameter', type(value)
def same(a, b):
    return type(a) is type(b) and torch.equal(a, b)
assert same(copy.deepcopy(layer).weight, layer.weight)
assert same(pickle.loads(pickle.dumps(layer)).weight, layer.weight)
for what in (layer.weight, {'a': [layer.weight]}):
    file = io.BytesIO()
    torch.save(what, file)
    file.seek(0)
    found = torch.load(file)
    assert same(found if what is layer.weight else found['a'][0], layer.weight)
file = io.BytesIO()
torch.save(late.state_dict(), file)
file.seek(0)
nn.LazyLinear(3).load_state_dict(torch.load(file))
""")


def test_parameters_are_ours_to_compile(tmp_path):
    pytest.importorskip("taeda.compiler")
    program = tmp_path / "program.py"  # compile reads the text of a function
    program.write_text("""
import warnings
import taeda
warnings.simplefilter('ignore')
taeda.install_as_torch()
import torch
warnings.simplefilter('error')
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
@torch.compile(fullgraph=True)
def loss(x):
    return (model(x) * model[0].weight.sum()).mean()
x = torch.randn(3, 4)
for _ in range(3):
    found = loss(x)
    assert torch.equal(found, (model(x) * model[0].weight.sum()).mean())
    found.backward()
    optimizer.step()
""")
    subprocess.run([sys.executable, str(program)], check=True)
