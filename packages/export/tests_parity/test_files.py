"""Files of programs beside PyTorch: it runs ours, and we run its."""

from __future__ import annotations

import copy
import io
import operator

import numpy as np
import pytest
from checked_programs import PROGRAMS, Program
from control_models import CASES as CONTROL
from data_models import CASES as DATA
from program_models import CASES, Block, Convolutions
from size_results import CASES as SIZED
from size_results import Of as Sized
from size_results import given as rows_of
from size_results import shapes

import taeda
from taeda.export import Dim, export, load, save, unflatten
from taeda.utils._pytree import tree_leaves

torch = pytest.importorskip("torch", reason="PyTorch is the other side")


def numbers(value):
    return [np.asarray(v.detach().numpy()) for v in tree_leaves(value) if hasattr(v, "detach")]


def theirs(value):
    return torch.from_numpy(value.numpy()) if isinstance(value, taeda.Tensor) else value


@pytest.mark.parametrize("name", CASES)
def test_pytorch_runs_our_files(name):
    case = CASES[name]
    program = export(case.make(), case.given(1), dynamic_shapes=case.shapes)
    file = io.BytesIO()
    save(program, file)
    file.seek(0)
    there = torch.export.load(file).module()
    here = program.module()
    for n in (1, 3, 6):
        args = case.given(n)
        wanted = numbers(here(*args))
        got = numbers(there(*map(theirs, args)))
        for a, b in zip(got, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


#: rows of ours that no function of PyTorch is
OWN = {"pinv"}


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - OWN))
def test_pytorch_runs_programs_that_look_at_values(name):
    f = PROGRAMS[name]
    sizes = ({0: Dim("rows", min=4, max=50)},)
    file = io.BytesIO()
    save(export(Program(f), (taeda.randn(6, 3),), dynamic_shapes=sizes), file)
    file.seek(0)
    there = torch.export.load(file).module()
    for rows in (6, 11):
        taeda.manual_seed(rows)
        x = taeda.randn(rows, 3)
        for a, b in zip(numbers(there(theirs(x))), numbers(f(x)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch's own code
@pytest.mark.parametrize("name", CONTROL)
def test_pytorch_runs_our_branches_loops_and_scans(name):
    case = CONTROL[name]
    model = case.make()
    file = io.BytesIO()
    save(export(model, case.given(4, 2), dynamic_shapes=case.shapes), file)
    file.seek(0)
    there = torch.export.load(file).module()
    for n, m in ((4, 2), (7, 3)):
        args = case.given(n, m)
        got = numbers(there(*map(theirs, args)))
        for a, b in zip(got, numbers(model(*args)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch's own code
@pytest.mark.parametrize("name", DATA)
def test_pytorch_runs_our_programs_with_sizes_that_data_decide(name):
    case = DATA[name]
    model = case.make()
    file = io.BytesIO()
    save(export(model, case.calls[0], dynamic_shapes=case.shapes), file)
    file.seek(0)
    there = torch.export.load(file).module()
    for args in case.calls:
        try:
            got = numbers(there(*map(theirs, args)))
        except AssertionError:  # a size for which the program does not hold
            if args[0].shape[0] > 1:
                raise
            continue
        for a, b in zip(got, numbers(model(*args)), strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


#: PyTorch has no place in a file for answers, reads no text there, and does not know the dataclass
UNREAD = {
    "answers", "joined", "negated", "of-data-floats", "part", "beside-constants", "dataclass",
}  # fmt: skip


def told(value):
    """Tensors, numbers and texts in order."""
    leaves = tree_leaves(value) if not isinstance(value, torch.Tensor) else [value]
    for leaf in leaves:
        if isinstance(leaf, torch.Size):
            yield from leaf
        else:
            yield leaf.tolist() if hasattr(leaf, "tolist") else leaf


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch's own code
@pytest.mark.parametrize("name", sorted(SIZED.keys() - UNREAD))
def test_pytorch_runs_our_programs_that_give_sizes(name):
    model = Sized(SIZED[name])
    file = io.BytesIO()
    save(export(copy.deepcopy(model), (rows_of(4),), dynamic_shapes=shapes()), file)
    file.seek(0)
    there, twin = torch.export.load(file).module(), copy.deepcopy(model)
    for n in (4, 2, 9):
        got, wanted = list(told(there(theirs(rows_of(n))))), list(told(twin(rows_of(n))))
        assert repr(got) == repr(wanted)  # the class of each number, and every bit


@pytest.mark.parametrize("again", [False, True])
def test_we_run_and_write_again_a_file_of_pytorch_that_gives_sizes(again):
    class There(torch.nn.Module):
        def forward(self, x):
            n = x.shape[0]
            sizes = {"shape": x.shape, "many": x.numel(), "gone": n - n}
            numbers = n // 3, n % 3, n**2, torch.sym_max(n, 5), n / 4, x.nonzero().shape[0]
            return x * 2, sizes, numbers, x.sum().item(), 3

    file = io.BytesIO()
    shapes = ({0: torch.export.Dim("rows")},)
    torch.export.save(
        torch.export.export(There(), (torch.ones(4, 3),), dynamic_shapes=shapes), file
    )
    file.seek(0)
    program = load(file)
    if again:
        file = io.BytesIO()
        save(program.run_decompositions({}), file)
        file.seek(0)
        program = load(file)
    for n in (4, 1, 9):
        assert list(told(program.module()(taeda.ones(n, 3)))) == list(
            told(There()(torch.ones(n, 3)))
        )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch's own code
def test_we_run_and_write_again_a_file_of_pytorch_with_sizes_that_data_decide():
    class There(torch.nn.Module):
        def forward(self, x, n):
            count = n.item()
            torch._check(count >= 0)
            torch._check(count <= x.shape[0])
            return x[x > 0] * 2, x.nonzero(), x[:count], torch.ones(x[x > 0].shape[0])

    shapes = ({0: torch.export.Dim("rows")}, None)
    given = (torch.randn(4, 3), torch.tensor(2))
    file = io.BytesIO()
    torch.export.save(torch.export.export(There(), given, dynamic_shapes=shapes), file)
    file.seek(0)
    program, again = load(file), io.BytesIO()
    save(program, again)
    again.seek(0)
    x, n = torch.randn(7, 3), torch.tensor(5)
    wanted = numbers(There()(x, n))
    mine = [taeda.from_numpy(v.numpy()) for v in (x, n)]
    for got in (program.module()(*mine), torch.export.load(again).module()(x, n)):
        for a, b in zip(numbers(got), wanted, strict=True):
            np.testing.assert_allclose(a, b)
    with pytest.raises(RuntimeError):
        program.module()(mine[0], taeda.tensor(8))


def _model(name):
    if name == "mlp":
        return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    source = {"convolutions": Convolutions, "block": Block}[name]
    made = {"nn": torch.nn, "F": torch.nn.functional, "taeda": torch}
    return _under(source, made)


def _under(source, names):
    """The class with PyTorch in place of taeda: its code says nothing else."""
    import inspect

    text = inspect.getsource(source).replace("super().__init__()", "nn.Module.__init__(self)")
    exec(text, names)
    return names[source.__name__]()


@pytest.mark.parametrize("name", ["mlp", "convolutions", "block"])
def test_we_run_files_of_pytorch(name):
    case, model = CASES[name], _model(name).eval()
    batch = torch.export.Dim("batch")
    args = tuple(map(theirs, case.given(3)))
    made = torch.export.export(model, args, dynamic_shapes=({0: batch},))
    file = io.BytesIO()
    torch.export.save(made, file)
    file.seek(0)
    run = load(file).module()
    for n in (3,) if name == "block" else (2, 3, 6):
        args = case.given(n)
        wanted = numbers(model(*map(theirs, args)))
        for a, b in zip(numbers(run(*args)), wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


class Counting(taeda.nn.Module):
    """Its buffers and its argument are written."""

    def __init__(self):
        super().__init__()
        self.norm = taeda.nn.BatchNorm1d(3)
        self.register_buffer("count", taeda.zeros(()))

    def forward(self, x):
        self.count.add_(1)
        x.mul_(2)
        return self.norm(x) + self.count


def test_pytorch_writes_what_the_signature_says():
    model = Counting()
    program = export(model, (taeda.ones(4, 3),)).run_decompositions({})
    file = io.BytesIO()
    save(program, file)
    file.seek(0)
    loaded = torch.export.load(file)
    assert list(loaded.graph_signature.buffers_to_mutate.values()) == list(
        program.graph_signature.buffers_to_mutate.values()
    )
    there, here = loaded.module(), program.module()
    for seed in range(2):
        x = taeda.randn(4, 3, generator=taeda.Generator().manual_seed(seed))
        y = theirs(x.clone())
        for a, b in zip(numbers(there(y)), numbers(here(x)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(y.numpy(), x.numpy())
    for name, value in here.named_buffers():
        np.testing.assert_allclose(there.get_buffer(name).numpy(), value.numpy(), rtol=1e-5)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of PyTorch's own code
def test_new_values_in_files_of_pytorch_are_written_here():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x):
            self.count.add_(1)
            return x * self.count

    made = torch.export.export(Model(), (torch.ones(2),)).run_decompositions({})
    file = io.BytesIO()
    torch.export.save(made, file)
    file.seek(0)
    run = load(file).module()
    assert run(taeda.ones(2)).tolist() == [1.0, 1.0] and run(taeda.ones(2)).tolist() == [2.0, 2.0]


def test_pytorch_runs_our_fourier_transforms():
    class Spectrum(taeda.nn.Module):
        def forward(self, x):
            return taeda.fft.irfft(taeda.fft.rfft(x), 8), taeda.fft.fft(x).abs()

    file, x = io.BytesIO(), taeda.randn(3, 8)
    save(export(Spectrum(), (x,)), file)
    file.seek(0)
    got = numbers(torch.export.load(file).module()(theirs(x)))
    for a, b in zip(got, numbers(Spectrum()(x)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def _calls(lib):
    """A module inside of another one, called by position and by name, with a tree of results."""

    class Part(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = lib.nn.Linear(3, 3)

        def forward(self, x, pair, *, scale):
            return {"y": self.layer(x) + pair["a"], "z": [pair["b"] * scale, None]}

    class Whole(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.part = Part()

        def forward(self, x):
            made = self.part(x * 2, {"a": x, "b": x + 1}, scale=x.sum())
            return made["y"] + made["z"][0]

    return Whole()


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")  # of PyTorch's own code
def test_kept_calls_of_modules_go_both_ways():
    given = np.arange(12, dtype=np.float32).reshape(4, 3) / 5
    kept = ("part",)
    tensor, file = taeda.from_numpy(given), io.BytesIO()
    ours = export(_calls(taeda), (tensor,), preserve_module_call_signature=kept)
    save(ours, file)
    there = torch.export.load(io.BytesIO(file.getvalue()))
    assert [e.fqn for e in there.module_call_graph] == ["", "part"]
    wanted = ours.module()(taeda.from_numpy(given)).detach().numpy()
    apart = torch.export.unflatten(there)
    np.testing.assert_allclose(
        apart(torch.from_numpy(given)).detach().numpy(), wanted, rtol=1e-5, atol=1e-5
    )

    model = _calls(torch)
    x = torch.from_numpy(given)
    theirs, file = (
        torch.export.export(model, (x,), preserve_module_call_signature=kept),
        io.BytesIO(),
    )
    torch.export.save(theirs, file)
    made = unflatten(load(io.BytesIO(file.getvalue())))
    got = made(taeda.from_numpy(given)).detach().numpy()
    np.testing.assert_allclose(got, model(x).detach().numpy(), rtol=1e-5, atol=1e-5)
    found = made.part(tensor, {"b": tensor, "a": tensor}, scale=tensor.sum())
    assert list(found) == ["y", "z"] and found["z"][1] is None


_OPERATORS = (
    "add sub mul truediv floordiv mod pow lt le gt ge eq ne and_ or_ xor lshift rshift".split()
)
_WRITING = "lt_ le_ gt_ ge_ eq_ ne_ fmod_ remainder_ floor_divide_ pow_".split()


def _applied(name, x, other):
    if hasattr(operator, name):
        return getattr(operator, name)(x, other)
    return getattr(x.clone(), name)(other)


@pytest.mark.parametrize("name", [*_OPERATORS, *_WRITING])
def test_operators_with_a_number_on_either_side_have_their_names(name):
    """A number, a size and a tensor, before and behind, and in place."""
    whole = name in ("and_", "or_", "xor", "lshift", "rshift")
    x = taeda.arange(1, 13).view(4, 3)
    x = x if whole else x / 4

    class Sides(taeda.nn.Module):
        def forward(self, x):
            made = [_applied(name, x, v) for v in (3, x.shape[0], x + 1)]
            if name in _WRITING:
                return made
            writes = "i" + name.rstrip("_")
            if hasattr(operator, writes):
                made += [getattr(operator, writes)(x.clone(), v) for v in (3, x.shape[0], x + 1)]
            return made + [_applied(name, v, x) for v in (3, x.shape[0])]

    file = io.BytesIO()
    save(export(Sides(), (x,), dynamic_shapes=({0: Dim.AUTO},)), file)
    file.seek(0)
    there = torch.export.load(file).module()
    for given in (x, x.repeat(2, 1)):
        for a, b in zip(numbers(there(theirs(given))), numbers(Sides()(given)), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
