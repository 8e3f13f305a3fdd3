from pathlib import Path

import by_path
import pytest

ROOT = Path(__file__).parents[2]
layers = by_path.load("tools/hold/c_layers.py")


def make(tmp_path, files):
    for name, text in files.items():
        path = tmp_path / "packages/core/csrc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return layers.check(tmp_path)


def test_the_core_holds_its_layers():
    assert layers.check(ROOT) == []


def test_a_lower_layer_may_be_included(tmp_path):
    files = {"ops/a.c": '#include "runtime/b.h"\n#include "taeda/abi.h"\n', "runtime/b.h": ""}
    assert make(tmp_path, files) == []


def test_a_higher_layer_may_not(tmp_path):
    (wrong,) = make(tmp_path, {"runtime/a.c": '#include "ops/b.h"\n', "ops/b.h": ""})
    assert wrong.startswith("runtime/a.c includes ops/b.h, which is of a higher layer")


def test_an_include_is_spelt_from_csrc(tmp_path):
    (wrong,) = make(tmp_path, {"ops/a.c": '#include "b.h"\n', "ops/b.h": ""})
    assert wrong == "ops/a.c: 'b.h' is no path from csrc"


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_circle_is_told_once(tmp_path, length):
    names = [f"ops/{k}.h" for k in range(length)]
    files = {n: f'#include "{names[(k + 1) % length]}"\n' for k, n in enumerate(names)}
    assert make(tmp_path, files) == [
        "headers include each other: " + " -> ".join([*names, names[0]])
    ]


def test_a_device_is_asked_through_its_table(tmp_path):
    files = {
        "graph/node.c": "    n->stream = td_cuda_stream(0);",
        "binding/cuda.c": "    td_cuda_stream(0);",
        "cuda/device.c": "void *td_cuda_stream(int ordinal) { return 0; }\n",
    }
    wrong = make(tmp_path, files)
    assert any("graph/node.c names td_cuda_stream: ask a slot" in line for line in wrong)
    assert not [line for line in wrong if line.startswith(("binding", "cuda"))]


@pytest.mark.parametrize("length", [9, 10])
def test_a_circle_of_functions_has_nine_files_at_most(tmp_path, length):
    call = "void td_f{0}(void)\n{{\n    td_f{1}();\n}}\n"
    files = {f"ops/f{k}.c": call.format(k, (k + 1) % length) for k in range(length)}
    found = [line for line in make(tmp_path, files) if "name each other's functions" in line]
    assert [line.partition(" ")[0] for line in found] == (["10"] if length > 9 else [])


def test_a_device_stands_on_runtime_and_cpu(tmp_path):
    text = '#include "ops/a.h"\n#include "cpu/b.h"\n#include "runtime/c.h"\n'
    below = {"ops/a.h": "", "cpu/b.h": "", "runtime/c.h": ""}
    (wrong,) = make(tmp_path, {"cuda/walk.c": text, **below})
    assert wrong == "cuda/walk.c includes ops/a.h: a device stands on runtime, cpu alone"


def test_another_folder_is_no_layer(tmp_path):
    assert make(tmp_path, {"kernels/a.c": ""}) == ["csrc/kernels is no layer"]


@pytest.mark.parametrize(
    "text",
    [
        "td_parallel(n, 1, fn, &job);",
        "TD_PICK(td_scan_kernels)->scan[0];",
        "td_nd_run(&nd, loop, NULL, 1);",
        "td_nd_run_serial(&nd, loop, NULL);",
        "void *token = td_heavy_begin(1);",
        "const int64_t *at = td_data(index);",
        "double x = ((const double *)td_data(t))[0];",
    ],
)
def test_work_does_not_belong_to_ops(tmp_path, text):
    (wrong,) = make(tmp_path, {"ops/a.c": f"{text}\n"})
    assert wrong.startswith("ops/a.c: ") and "ops prepares, cpu runs" in wrong
    assert (
        make(tmp_path / "other", {"cpu/a_run.c": text, "ops/b.c": f"/* {text} */ run(td_data(t));"})
        == []
    )


def test_exceptions_say_why_and_are_needed(tmp_path):
    assert all(len(why) > 20 for why in layers.WORKS.values())
    assert all((ROOT / "packages/core/csrc" / name).exists() for name in layers.WORKS)
    (wrong,) = make(tmp_path, {"ops/conv/conv.c": "int nothing;"})
    assert wrong == "ops/conv/conv.c does no work and need not be in WORKS"


def test_a_file_says_its_name(tmp_path):
    files = {
        "cpu/conv/grad_run.c": "/* conv_grad.c - gradients. */",
        "cpu/a.c": "/* a.c - fine */",
        "cpu/b.c": "int b;",
    }
    assert make(tmp_path, files) == ["cpu/conv/grad_run.c calls itself conv_grad.c"]


DEFINES = {"dispatch/run.c": "PyObject *td_go(int n)\n{\n    return 0;\n}\n"}
PLACES = {
    "its own header": ({"dispatch/run.h": "PyObject *td_go(int n); /* runs */\n"}, []),
    "another folder's header": (
        {"object/py.h": "PyObject *td_go(int n);\n"},
        [
            "object/py.h declares td_go, which dispatch/run.c defines: a header of that folder does",
            "object/py.h names td_go of dispatch/run.c, which is of a higher layer: use a hook",
        ],
    ),
    "a file by itself": (
        {"dispatch/other.c": "PyObject *td_go(int n);\n"},
        ["dispatch/other.c declares td_go of dispatch/run.c: include the header that does"],
    ),
    "a call from below": (
        {"graph/a.c": "static int f(void)\n{\n    td_go(1);\n    return 0;\n}\n"},
        ["graph/a.c names td_go of dispatch/run.c, which is of a higher layer: use a hook"],
    ),
    "a call from above": ({"backward/a.c": "int f(void)\n{\n    return !td_go(1);\n}\n"}, []),
    "a comment": ({"graph/a.c": "/* td_go(1); */\n"}, []),
    "a message": ({"graph/a.c": 'int f(void)\n{\n    return g("td_go");\n}\n'}, []),
    "a text for devices": ({"cuda/kernels/a.h": "int td_go(int n);\n"}, []),
}


@pytest.mark.parametrize(("files", "wanted"), PLACES.values(), ids=PLACES)
def test_where_names_may_stand(tmp_path, files, wanted):
    assert make(tmp_path, {**DEFINES, **files}) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "int td_a(void) { return 0; }",
        "const td_f *td_a(int n,\n      int m)\n{\n}",
        "td_status td_a(const char *op, td_loop loop)\n{\n}",
        "PyMethodDef *td_a(void)\n{\n}",
    ],
)
def test_a_definition_is_seen(text):
    assert layers.definitions({"ops/a.c": f"{text}\n"}) == {"td_a": "ops/a.c"}


def test_the_core_defines_what_the_layers_are_asked_about():
    home = layers.definitions(layers.texts(ROOT / "packages/core/csrc"))
    assert len(home) > 500 and home["td_apply"] == "dispatch/dispatch.c"
