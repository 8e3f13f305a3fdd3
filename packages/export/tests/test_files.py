"""`save` and `load`: what a program is after a file, and files that are refused."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from program_models import CASES, normal

import taeda
from taeda import nn
from taeda.export import Dim, ExportedProgram, export, load, save
from taeda.utils._pytree import tree_leaves


def saved(program, **options):
    file = io.BytesIO()
    save(program, file, **options)
    return file.getvalue()


def small():
    layer = nn.Linear(3, 2)
    return export(layer, (normal(4, 3),), dynamic_shapes=({0: Dim("n", max=64)},))


def changed(content, name, change):
    """The file with another record: `change` gets its bytes, or its JSON."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename == f"archive/{name}":
                if name.endswith(".json"):
                    document = json.loads(data)
                    change(document)
                    data = json.dumps(document).encode()
                else:
                    data = change(data)
            new.writestr(entry.filename, data)
    return made.getvalue()


@pytest.mark.parametrize("name", CASES)
def test_a_program_from_a_file_gives_the_same_bits(name):
    case = CASES[name]
    program = export(case.make(), case.given(1), dynamic_shapes=case.shapes)
    content = saved(program)
    back = load(io.BytesIO(content))
    assert isinstance(back, ExportedProgram)
    assert back.range_constraints == program.range_constraints
    assert str(back.graph_signature) == str(program.graph_signature)
    one, two = program.module(), back.module()
    for n in (1, 3, 6):
        pairs = zip(tree_leaves(one(*case.given(n))), tree_leaves(two(*case.given(n))), strict=True)
        assert all(a.equal(b) if isinstance(a, taeda.Tensor) else a == b for a, b in pairs), n
    assert saved(load(io.BytesIO(content))) is not None


def test_a_path_and_extra_files(tmp_path):
    path = tmp_path / "model.pt2"
    save(small(), path, extra_files={"labels.txt": "cat\ndog"})
    extra = {"labels.txt": ""}
    load(path, extra_files=extra)
    assert extra == {"labels.txt": "cat\ndog"}
    assert [p.name for p in tmp_path.iterdir()] == ["model.pt2"]
    with pytest.raises(RuntimeError, match=r"no extra file 'other\.txt'"):
        load(path, extra_files={"other.txt": ""})
    with pytest.raises(ValueError, match="extra_files has names"):
        save(small(), path, extra_files={"../x": "y"})


def test_ranges_are_checked_after_a_file():
    run = load(io.BytesIO(saved(small()))).module()
    with pytest.raises(AssertionError, match="from 1 to 64, got 65"):
        run(normal(65, 3))
    with pytest.raises(AssertionError, match="== 3, got 4"):
        run(normal(2, 4))


@pytest.mark.parametrize(
    "dtype",
    [taeda.bfloat16, taeda.float16, taeda.float64, taeda.int64, taeda.bool, taeda.complex64],
)
def test_dtypes_and_layouts_of_constants(dtype):
    class Adds(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("kept", taeda.ones(2, 3).to(dtype).t())
            self.register_buffer("lost", taeda.ones(()).to(dtype), persistent=False)
            self.plain = taeda.zeros(0, 2).to(dtype)

        def forward(self, x):
            return taeda.where(x, self.kept, self.lost), self.plain.sum() == 0

    x = taeda.tensor([[True, False]] * 3)
    model = Adds()
    back = load(io.BytesIO(saved(export(model, (x,)))))
    assert all(a.equal(b) for a, b in zip(back.module()(x), model(x), strict=True))
    assert back.graph_signature.non_persistent_buffers == ("lost",)


def test_tied_parameters_stay_tied():
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[1].weight = model[0].weight
    back = load(io.BytesIO(saved(export(model, (normal(2, 3),)))))
    assert back.state_dict["0.weight"] is back.state_dict["1.weight"]
    assert back.module()(normal(2, 3)).equal(model(normal(2, 3)))


def test_what_has_no_place_in_a_file(tmp_path):
    branch = nn.Module()
    branch.forward = lambda x: x * 2 if x.shape[0] > x.shape[1] else x
    program = export(branch, (normal(6, 5),), dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO},))
    with pytest.raises(NotImplementedError, match="s0 > s1"):
        save(program, tmp_path / "a.pt2")
    with pytest.raises(TypeError, match="wanted an ExportedProgram"):
        save(branch, tmp_path / "a.pt2")
    assert not list(tmp_path.iterdir())


# ---- files that are refused ----


def node(document):
    return document["graph_module"]["graph"]["nodes"][0]


def output(document):
    return document["graph_module"]["signature"]["output_specs"][0]


def graph(document):
    return document["graph_module"]["graph"]


def weight(document):
    return document["config"]["weight"]


MODEL, WEIGHTS = "models/model.json", "data/weights/model_weights_config.json"
RECORDS = {
    "a weight of another shape": (
        WEIGHTS,
        lambda d: weight(d)["tensor_meta"].update(sizes=[{"as_int": 1}, {"as_int": 3}]),
        r"'weight' is a taeda\.float32 tensor of shape \[1, 3\], and the program is for .* \[2, 3\]",
    ),
    "a weight of another dtype": (
        WEIGHTS,
        lambda d: weight(d)["tensor_meta"].update(dtype=6),
        r"taeda\.float16 tensor",
    ),
    "numbers of another machine": ("byteorder", lambda _: b"big", "byteorder b'big'"),
    "a newer archive": ("archive_version", lambda _: b"1", "archive_version b'1'"),
    "an argument twice": (
        MODEL,
        lambda d: node(d)["inputs"].append(node(d)["inputs"][0]),
        "input twice",
    ),
    "another result than it says": (
        MODEL,
        lambda d: output(d)["user_output"]["arg"]["as_tensor"].update(name="input_1"),
        "another one",
    ),
    "a range of half a size": (
        MODEL,
        lambda d: d["range_constraints"]["s0"].update(max_val=1.5),
        "the range of 's0'",
    ),
}
HOSTILE = RECORDS | {
    "an import": (MODEL, lambda d: node(d).update(target="os.system"), "no operator"),
    "an attribute": (MODEL, lambda d: node(d).update(target="torch.ops.aten.add.__class__"), "no op"),
    "a private row": (MODEL, lambda d: node(d).update(target="torch.ops.aten.__dir__.x"), "no op"),
    "a target of another kind": (MODEL, lambda d: node(d).update(target=["x"]), "malformed|no op"),
    "guards": (MODEL, lambda d: d.update(guards_code=["__import__('os')"]), "Python text"),
    "a version": (MODEL, lambda d: d["schema_version"].update(major=9), r"version 9\.\d+"),
    "a cycle": (
        MODEL, lambda d: node(d)["inputs"][0]["arg"]["as_tensor"].update(name="linear"), "before it",
    ),
    "a name twice": (
        MODEL, lambda d: graph(d)["nodes"].append(graph(d)["nodes"][0]), "two values",
    ),
    "a name that is none": (
        MODEL, lambda d: node(d)["outputs"][0]["as_tensor"].update(name="a; b"), "no name",
    ),
    "a formula that is code": (
        MODEL,
        lambda d: graph(d)["tensor_values"]["input_1"]["sizes"].__setitem__(
            0, {"as_expr": {"expr_str": "__import__('os').system('x')"}}
        ),
        "no formula",
    ),
    "a deep formula": (
        MODEL,
        lambda d: graph(d)["tensor_values"]["input_1"]["sizes"].__setitem__(
            0, {"as_expr": {"expr_str": "Integer(" * 900 + "1" + ")" * 900}}
        ),
        "no formula",
    ),
    "an unknown argument": (
        MODEL, lambda d: node(d)["inputs"][2].update(name="other"), "no argument 'other'",
    ),
    "a kind of argument": (
        MODEL, lambda d: node(d)["inputs"][2].update(arg={"as_custom_obj": {}}), "not read",
    ),
    "two kinds at once": (
        MODEL, lambda d: node(d)["inputs"][2]["arg"].update(as_int=1), "one kind",
    ),
    "a missing field": (MODEL, lambda d: d.pop("graph_module"), "malformed"),
    "a list for a graph": (MODEL, lambda d: d.update(graph_module=[]), "malformed"),
    "another output": (
        MODEL,
        lambda d: d["graph_module"]["signature"]["output_specs"].clear(), "number of outputs",
    ),
    "a new value of nothing": (
        MODEL,
        lambda d: output(d).update(
            buffer_mutation={"arg": {"name": "linear"}, "buffer_name": "x"}, user_output=None
        ),
        "new value of 'x', which is no input",
    ),
    "a gradient": (
        MODEL,
        lambda d: output(d).update(gradient_to_parameter={"arg": {}}, user_output=None),
        "gradient_to_parameter', which is not read",
    ),
    "a pickle": (WEIGHTS, lambda d: weight(d).update(use_pickle=True), "pickled"),
    "a large tensor": (
        WEIGHTS, lambda d: weight(d)["tensor_meta"].update(sizes=[{"as_int": 2**40}] * 2), "more",
    ),
    "a large stride": (
        WEIGHTS,
        lambda d: weight(d)["tensor_meta"].update(strides=[{"as_int": 2**50}, {"as_int": 1}]), "more",
    ),
    "a tensor that repeats": (
        WEIGHTS,
        lambda d: weight(d)["tensor_meta"].update(
            sizes=[{"as_int": 2**40}, {"as_int": 3}], strides=[{"as_int": 0}, {"as_int": 1}]
        ),
        "repeats",
    ),
    "a negative size": (
        WEIGHTS, lambda d: weight(d)["tensor_meta"].update(sizes=[{"as_int": -1}] * 2), "is -1",
    ),
    "a dtype": (WEIGHTS, lambda d: weight(d)["tensor_meta"].update(dtype=99), "dtype 99"),
    "a path": (WEIGHTS, lambda d: weight(d).update(path_name="../../x"), "no tensor"),
    "no tensor": (WEIGHTS, lambda d: d["config"].pop("weight"), "no tensor for 'weight'"),
    "another format": ("archive_format", lambda b: b"zip", "no archive of an exported program"),
    "no JSON": (MODEL, None, "no JSON"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name):
    record, change, said = HOSTILE[name]
    content = saved(small())
    if change is None:
        content = content.replace(b'{"graph_module"', b'("graph_module"')
        said = "no JSON|damaged"
    else:
        content = changed(content, record, change)
    with pytest.raises(RuntimeError, match=said) as raised:
        load(io.BytesIO(content))
    assert type(raised.value).__name__ == "FormatError"


def _kind(document, kind):
    """The first result, a size, under another kind in the graph and the signature."""
    module = document["graph_module"]
    name = module["graph"]["outputs"][0]["as_sym_int"]["as_name"]
    value = {"name": name} if kind == "as_tensor" else {"as_name": name}
    module["graph"]["outputs"][0] = {kind: value}
    module["signature"]["output_specs"][0] = {"user_output": {"arg": {kind: value}}}


def _other(document):
    document["graph_module"]["graph"]["outputs"][0] = {"as_sym_int": {"as_int": 3}}


def _argument(document):
    specs = document["graph_module"]["signature"]["input_specs"]
    specs[0] = {"user_input": {"arg": {"as_sym_int": {"as_name": "x"}}}}


def _no_symbol(document):
    values = document["graph_module"]["graph"]["sym_float_values"]
    next(iter(values.values()))["as_expr"]["expr_str"] = "print(1)"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: _kind(d, "as_tensor"), "is another one in the graph"),
        (lambda d: _kind(d, "as_sym_bool"), "is another one in the graph"),
        (_other, "is another one in the graph"),
        (_argument, "a number that differs from call to call"),
        (_no_symbol, "no symbol"),
    ],
)
def test_results_of_another_kind_than_their_nodes_are_refused(change, said):
    class Sizes(nn.Module):
        def forward(self, x):
            return x.shape[0], x.sum().item()

    content = saved(export(Sizes(), (taeda.ones(4, 3),), dynamic_shapes=({0: Dim("n")},)))
    assert load(io.BytesIO(content)).module()(taeda.ones(5, 3)) == (5, 15.0)
    with pytest.raises(RuntimeError, match=said):
        load(io.BytesIO(changed(content, "models/model.json", change)))


def _older(document):
    """A file as earlier minor versions have it: without what came later."""
    document["schema_version"]["minor"] = 3
    for name in ("guards_code", "torch_version", "verifiers"):
        document.pop(name, None)
    module = document["graph_module"]
    module.pop("treespec_namedtuple_fields", None)
    module.pop("metadata", None)
    for name in ("sym_float_values", "custom_obj_values"):
        module["graph"].pop(name, None)
    for node in module["graph"]["nodes"]:
        for name in ("name", "is_hop_single_tensor_return", "metadata"):
            node.pop(name, None)
        for entry in node["inputs"]:
            entry.pop("kind", None)
    module["module_call_graph"][0]["signature"].pop("forward_arg_names", None)


def _newer(document):
    """A file of a later minor version: with what is not known yet."""
    document["schema_version"]["minor"] = 99
    document["more"] = {"of": "this"}
    document["graph_module"]["graph"]["more_values"] = {}
    document["graph_module"]["graph"]["nodes"][0]["more"] = [1]


@pytest.mark.parametrize("change", [_older, _newer])
def test_other_minor_versions_are_read(change):
    program, x = small(), normal(5, 3)
    back = load(io.BytesIO(changed(saved(program), MODEL, change)))
    assert back.module()(x).equal(program.module()(x))


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (
            {"major": 9, "minor": 0},
            r"version 9\.0 .* written by 'taeda .*newer than this library: update",
        ),
        ({"major": 7, "minor": 4}, r"version 7\.4 .*it is older: load it where it was written"),
        ({"major": "8", "minor": 1}, "which is none"),
        ({"major": 8, "minor": -1}, "which is none"),
        ({"major": 8}, "malformed"),
    ],
)
def test_other_major_versions_are_refused(version, said):
    content = changed(saved(small()), MODEL, lambda d: d.update(schema_version=version))
    with pytest.raises(RuntimeError, match=said):
        load(io.BytesIO(content))


def test_archives_of_pickles_are_refused_by_name():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("version", "8.1")
        archive.writestr("serialized_exported_program.json", "{}")
        archive.writestr("serialized_state_dict.pt", b"\x80")
    with pytest.raises(RuntimeError, match=r"PyTorch 2\.7 or older, whose weights are pickled"):
        load(io.BytesIO(made.getvalue()))


def test_files_that_are_cut_or_have_other_bytes():
    content = saved(small())
    for end in range(0, len(content), 61):
        with pytest.raises(RuntimeError):
            load(io.BytesIO(content[:end]))
    for place in range(0, len(content), 97):
        bad = bytearray(content)
        bad[place] ^= 0x41
        try:
            back = load(io.BytesIO(bytes(bad)))
        except RuntimeError:
            continue
        assert str(back) == str(small()) and list(back.state_dict) == ["weight", "bias"], place


NAMES = ["lambda", "None", "taeda", "self", "print", "__class__", "forward", "device"]


@pytest.mark.parametrize("name", NAMES)
def test_names_that_python_has_already(name):
    """They are names of values in a file, and other ones in the code of the graph."""
    program = small()
    content = saved(program)
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename.endswith("model.json"):
                for known in ("input_1", "linear"):
                    data = data.replace(f'"{known}"'.encode(), f'"{name}{known[6:]}"'.encode())
            new.writestr(entry.filename, data)
    back = load(io.BytesIO(made.getvalue()))
    x = normal(5, 3)
    assert back.module()(x).equal(program.module()(x))
    assert load(io.BytesIO(saved(back))).module()(x).equal(program.module()(x))


def test_a_state_dict_with_more_than_tensors_is_refused():
    class Named(nn.Module):
        def forward(self, x):
            return x + 1

        def _save_to_state_dict(self, destination, prefix, keep_vars):
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[f"{prefix}kind"] = taeda.qint8

    program = taeda.export.export(Named(), (taeda.ones(2),))
    with pytest.raises(TypeError, match=r"'kind' of the state dict is no tensor but dtype"):
        taeda.export.save(program, io.BytesIO())
