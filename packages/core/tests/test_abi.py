"""The header: an extension built against any released minor runs on today's core; each kind of
misfit has its sentence.
"""

from __future__ import annotations

import gc
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from c_extensions import CURRENT, build

import taeda
from taeda._library import table
from taeda._native import core

HERE = Path(__file__).parent / "extensions"
RELEASED = sorted(HERE.glob("abi_*"))
needs_compiler = pytest.mark.skipif(
    shutil.which("cc") is None, reason="no C compiler on this machine"
)


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    """The operators of extensions/operators.c."""
    folder = tmp_path_factory.mktemp("abi")
    taeda.ops.load_library(build(HERE / "operators.c", CURRENT, folder / "operators.so"))
    return taeda.ops.abitest


@needs_compiler
def test_threads_wait_for_each_others_libraries(tmp_path):
    """Four libraries and four threads for each: one starts at a time, and none twice."""
    text, libraries = (HERE / "operators.c").read_text(), []
    for i in range(4):
        (tmp_path / f"o{i}.c").write_text(text.replace("abitest", f"abithread{i}"))
        libraries.append(build(tmp_path / f"o{i}.c", CURRENT, tmp_path / f"o{i}.so", f"-I{HERE}"))
    failed, gate, before = [], threading.Barrier(16), sys.getswitchinterval()

    def load(library):
        gate.wait()
        try:
            taeda.ops.load_library(library)
        except ImportError as error:
            failed.append(str(error))

    threads = [threading.Thread(target=load, args=(path,)) for path in libraries * 4]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(before)
    assert failed == []


# ---- headers of every minor ----


@needs_compiler
@pytest.mark.parametrize("include", [*RELEASED, CURRENT], ids=lambda path: path.name)
def test_an_extension_of_any_minor_runs(tmp_path, include):
    library = build(HERE / "scale.c", include, tmp_path / "scale.so")
    kernel = core.load_extension(library)[0]["twice"]
    x = taeda.tensor([[1.0, 2.0], [3.0, 4.0]]).t()
    assert core.call_kernel(kernel, (x,)).tolist() == [[2.0, 6.0], [4.0, 8.0]]
    assert core.call_kernel(kernel, (taeda.empty(2, 3, device="meta"),)).shape == (2, 3)


def fields(header: Path) -> dict[str, list[str]]:
    """Struct name -> its fields in order, of a header without comments."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    found = {}
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text, re.S):
        declarations = re.sub(r"union \{.*?\}", "union", body, flags=re.S).split(";")
        found[name] = [" ".join(d.split()) for d in declarations if d.strip()]
    return found


def constants(header: Path) -> dict[str, str]:
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    return dict(re.findall(r"\b(TAEDA_[A-Z0-9_]+) = (\d+)", text))


@pytest.mark.parametrize("kept", RELEASED, ids=lambda path: path.name)
def test_a_released_header_is_a_beginning_of_the_present_one(kept):
    old, new = fields(kept / "taeda/abi.h"), fields(CURRENT / "taeda/abi.h")
    assert len(old["taeda_api"]) >= 8
    for name, slots in old.items():
        assert new[name][: len(slots)] == slots, name
    then, now = constants(kept / "taeda/abi.h"), constants(CURRENT / "taeda/abi.h")
    assert then.items() <= now.items()


def test_the_kept_copy_of_this_minor_is_the_present_header():
    text = (CURRENT / "taeda/abi.h").read_text()
    major, minor = (re.search(rf"TAEDA_ABI_{w} (\d+)", text).group(1) for w in ("MAJOR", "MINOR"))
    assert (HERE / f"abi_{major}_{minor}/taeda/abi.h").read_text() == text


# ---- kernels offered by name alone ----


@needs_compiler
def test_kernel_error_becomes_the_named_exception(tmp_path):
    library = build(HERE / "scale.c", CURRENT, tmp_path / "scale.so")
    kernel = core.load_extension(library)[0]["twice"]
    with pytest.raises(TypeError, match="twice: wanted float32"):
        core.call_kernel(kernel, (taeda.tensor([1]),))
    with pytest.raises(TypeError, match="takes 1 tensors, got 2"):
        core.call_kernel(kernel, (taeda.ones(1), taeda.ones(1)))


@needs_compiler
def test_load_library_makes_operators_of_kernels_without_a_schema(tmp_path):
    library = build(HERE / "scale.c", HERE / "abi_1_0", tmp_path / "oldscale.so")
    taeda.ops.load_library(library)
    taeda.ops.load_library(library)  # a second time is nothing
    assert library in taeda.ops.loaded_libraries
    assert taeda.ops.oldscale.twice(taeda.ones(2)).tolist() == [2.0, 2.0]
    assert str(taeda.ops.oldscale.twice.default._schema) == "oldscale::twice(Tensor x0) -> Tensor"


@pytest.fixture(scope="module")
def wrong_outputs(tmp_path_factory):
    """extensions/outputs.c by both ways: kernels by name, and operators."""
    library = build(HERE / "outputs.c", CURRENT, tmp_path_factory.mktemp("abi") / "outputs.so")
    kernels = core.load_extension(library)[0]
    by_name = {
        name: lambda x, k=kernel: core.call_kernel(k, (x,)) for name, kernel in kernels.items()
    }
    return by_name, {name: getattr(taeda.ops.outputs, name) for name in kernels}


@needs_compiler
@pytest.mark.parametrize("way", [0, 1], ids=["kernel", "operator"])
@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("twice", RuntimeError, "one tensor as two outputs"),
        ("input", RuntimeError, "gave an input back"),
        ("none", RuntimeError, "made no output"),
        ("three", RuntimeError, "made 3 outputs, and the schema has 2"),
        ("seven", RuntimeError, "made 7 outputs, and the schema has 2"),
        ("sixteen", RuntimeError, "made 16 outputs, and the schema has 2"),
        ("skips", RuntimeError, "made 12 outputs, and the schema has 2"),
        ("fails_many", ValueError, "failed"),
        ("fails", ValueError, "failed"),
        ("fails_twice", ValueError, "failed"),
        ("fails_input", ValueError, "failed"),
    ],
)
def test_outputs_that_are_not_the_kernels_to_give(wrong_outputs, way, name, kind, sentence):
    x = taeda.ones(4)
    gc.collect()  # what tests before left in circles
    before = core.memory_stats()["allocated"]
    for _ in range(5):
        with pytest.raises(kind, match=sentence):
            wrong_outputs[way][name](x)
    assert core.memory_stats()["allocated"] == before
    kept = [taeda.full((4,), 7.0) for _ in range(8)]  # into what was freed
    assert x.tolist() == [1.0] * 4 and len({k.data_ptr() for k in kept}) == 8
    assert len({y.data_ptr() for y in wrong_outputs[way]["good"](x)}) == 2


@needs_compiler
@pytest.mark.parametrize("way", [0, 1], ids=["kernel", "operator"])
def test_outputs_beyond_all_places_are_told(wrong_outputs, way):
    x = taeda.ones(4)
    for _ in range(5):  # what lies behind the sixteenth nobody knows, so it is not freed
        with pytest.raises(RuntimeError, match="made at least 17 outputs, and the schema has 2"):
            wrong_outputs[way]["forty"](x)
    assert x.tolist() == [1.0] * 4


@needs_compiler
@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("listed_twice", RuntimeError, "one tensor as two outputs"),
        ("listed_input", RuntimeError, "gave an input back"),
        ("listed_gap", RuntimeError, "left a tensor of its list out"),
        ("listed_again", ValueError, "called twice in one call"),
        ("listed_aside", RuntimeError, "filled `outputs`, and its result is a Tensor"),
        ("listed_not", RuntimeError, "made no list: ask list_outputs"),
        ("listed_less", ValueError, "fewer than 0 tensors"),
        ("listed_fails", ValueError, "failed"),
        ("not_listed", ValueError, "the schema's result is no Tensor"),
    ],
)
def test_lists_that_are_not_the_kernels_to_give(wrong_outputs, name, kind, sentence):
    x, operators = taeda.ones(4), taeda.ops.outputs
    before = core.memory_stats()["allocated"]
    for _ in range(5):
        with pytest.raises(kind, match=sentence):
            getattr(operators, name)(x)
    assert core.memory_stats()["allocated"] == before
    assert x.tolist() == [1.0] * 4
    for n in (0, 1, 16, 17, 1000):
        made = operators.listed(x, n)
        assert isinstance(made, list) and len({y.data_ptr() for y in made}) == n
    assert [y is None for y in operators.listed_maybe(x)] == [False, True, False]


@needs_compiler
def test_an_optional_written_argument_that_is_left_out(tmp_path):
    source = tmp_path / "left_out.c"
    source.write_text(LEFT_OUT)
    core.load_extension(build(source, CURRENT, tmp_path / "left_out.so"))
    op = taeda.ops.leftout.o
    assert op() is None
    assert op(None) is None
    x = taeda.ones(3)
    assert op(x) is x


LEFT_OUT = """
#include "taeda/abi.h"
static int32_t nothing(const taeda_call *call) { (void)call; return 0; }
uint32_t taeda_ext_abi(void) { return TAEDA_ABI; }
int32_t taeda_ext_init(const taeda_api *api)
{
    taeda_error error = {0};
    taeda_op_def def = {.size = sizeof def, .schema = "leftout::o(Tensor(a!)? x=None) -> Tensor(a!)",
                        .cpu = nothing, .doc = ""};
    return api->define_op(&def, &error);
}
"""


# ---- operators with a schema ----


@needs_compiler
def test_an_operator_is_found_and_described(ops):
    assert str(ops.scale.default._schema) == "abitest::scale(Tensor x, float by=2.0) -> Tensor"
    assert ops.scale.__doc__ == "Of the tests."
    x = taeda.arange(6.0).reshape(2, 3).t()
    assert ops.scale(x).tolist() == (x * 2).tolist()
    assert ops.scale(x, by=0.5).tolist() == (x / 2).tolist()
    made = ops.scale(taeda.empty(4, 5, device="meta"))
    assert made.is_meta and made.shape == (4, 5)
    with pytest.raises(TypeError, match="abitest::scale: wanted float32"):
        ops.scale(taeda.tensor([1]))
    with pytest.raises(TypeError, match="argument 'x'"):
        ops.scale("x")


@needs_compiler
def test_a_view_shares_memory_and_stays_inside_it(ops):
    x = taeda.arange(10.0)
    part = ops.window(x, 2, 3)
    part.fill_(7)
    assert x.tolist() == [0, 1, 7, 7, 7, 5, 6, 7, 8, 9]
    assert part._base is x
    assert ops.window(x, 0, 0).shape == (0,)
    for start, length in [(8, 3), (-1, 2), (2**62, 2**62), (0, -1)]:
        with pytest.raises((ValueError, RuntimeError), match="abitest::window"):
            ops.window(x, start, length)
    with pytest.raises(ValueError, match="elements 8 to 10 are wanted of a memory of 10"):
        ops.window(x, 8, 3)


@needs_compiler
def test_an_operator_that_writes_its_argument(ops):
    x = taeda.zeros(3)
    before = x._version
    assert ops.bump(x, by=2) is x
    assert x.tolist() == [2, 2, 2]
    assert x._version > before
    with pytest.raises(ValueError, match="wanted contiguous memory"):
        ops.bump(taeda.zeros(2, 2).t())


@needs_compiler
def test_an_extension_calls_other_operators(ops):
    x = taeda.arange(6.0).reshape(2, 3)
    assert ops.composed(x).tolist() == [[9.0, 15.0, 21.0]]
    assert ops.composed(x.to("meta")).shape == (1, 3)
    assert ops.by_name("maximum", x, x + 1).tolist() == (x + 1).tolist()
    y = x.clone()
    with pytest.raises(RuntimeError, match="result 0 shares memory"):
        ops.by_name("add_.Tensor", y, x)  # it is done, but its result is the argument
    assert y.tolist() == (2 * x).tolist()


@needs_compiler
@pytest.mark.parametrize(
    ("name", "message", "kind"),
    [
        ("nothing", "there is no operator 'nothing'; names are like", ValueError),
        ("fill_", r"no operator 'fill_'; its overloads are .*fill_\.Scalar", ValueError),
        ("add", r"no operator 'add'; its overloads are .*add\.Tensor", ValueError),
        ("n" * 300, "there is no operator 'nnn", ValueError),
        ("relu", "relu takes at most 1 arguments, got 2", TypeError),
        ("frexp_", "there is no operator 'frexp_'", ValueError),
        ("mm", r"by_name: .*mat", RuntimeError),
        ("gather", "gather", TypeError),
    ],
)
def test_a_call_that_fails_says_why(ops, name, message, kind):
    with pytest.raises(kind, match=message):
        ops.by_name(name, taeda.ones(2, 3), taeda.ones(2, 3))


@needs_compiler
def test_more_results_than_room(ops):
    table.define("abitest::pair(Tensor x, Tensor y) -> (Tensor, Tensor)")
    table.set_kernel("abitest::pair", "any", lambda x, y: (x + y, x - y))
    with pytest.raises(ValueError, match="2 results come, and there is room for 1"):
        ops.by_name("abitest::pair", taeda.ones(2), taeda.ones(2))


@needs_compiler
def test_every_kind_of_argument_arrives(ops):
    x = taeda.ones(1)
    made = ops.kinds(
        x, None, [x, None], True, 3, 1.5, 2, "s", taeda.float64, "cpu", [True], [1, 2], [0.5]
    )
    kinds = [1, 0, 2, 3, 4, 5, 4, 7, 8, 9, 11, 12, 13, 0]
    counts = [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 2, 1, 0]
    assert made.tolist() == [list(pair) for pair in zip(kinds, counts, strict=True)]
    held = ops.values(-4, 2.5, True, 1 + 2j, "four", [7, 9], [0.25], [True])
    assert held.tolist() == [-4, 2.5, 1, 1, 2, 4, 9, 0.25, 1]


@needs_compiler
def test_facts_of_dtypes_and_devices(ops):
    assert ops.facts(taeda.int32).tolist() == [1, 4, 1, 5, 9, 11, 1, 0, 1]


@needs_compiler
@pytest.mark.parametrize(
    ("code", "kind"),
    [(1, RuntimeError), (2, TypeError), (3, ValueError), (4, IndexError), (5, NotImplementedError),
     (6, MemoryError), (77, RuntimeError), (-1, RuntimeError)],
)  # fmt: skip
def test_codes_are_exceptions(ops, code, kind):
    with pytest.raises(kind, match="abitest::fails: as asked"):
        ops.fails(code)


@needs_compiler
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gives_input_back", "gave an input back as an output"),
        ("makes_nothing", "made no output"),
        ("shares", "shares memory with an argument"),
        ("reserves_in_a_loop", "random_reserve in a body"),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_kernels_that_break_a_rule_are_refused(ops, name, message, threads):
    before = taeda.get_num_threads()
    taeda.set_num_threads(threads)
    try:
        with pytest.raises(RuntimeError, match=message):
            getattr(ops, name)(taeda.ones(3))
    finally:
        taeda.set_num_threads(before)


@needs_compiler
def test_a_missing_meta_kernel_is_named(ops):
    with pytest.raises(NotImplementedError, match="register_fake"):
        ops.shares(taeda.empty(2, device="meta"))


# ---- the end of the interpreter ----

EXIT = """
import sys, threading, time, taeda
taeda.set_num_threads(2)
taeda.ops.load_library(sys.argv[1])

class Late:
    def __del__(self, sleep=time.sleep):
        sleep(0.8)

late, x = Late(), taeda.ones(1 << 20)
threading.Thread(target=getattr(taeda.ops.abiexit, sys.argv[2]), args=(x,), daemon=True).start()
time.sleep(0.1)
"""


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler on this machine")
@pytest.mark.parametrize("kernel", ["in_loop", "in_call"])
def test_the_end_of_the_interpreter_does_not_unwind_through_a_kernel(tmp_path, kernel):
    library = build(HERE / "exits.cpp", CURRENT, tmp_path / "exits.so", compiler="c++")
    done = subprocess.run(
        [sys.executable, "-c", EXIT, library, kernel], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


# ---- refusals ----

ABI = (
    "#include <stdint.h>\nuint32_t taeda_ext_abi(void){{return {};}}\nint32_t "
    "taeda_ext_init(void*a){{return !a;}}"
)
INIT = """#include "taeda/abi.h"
uint32_t taeda_ext_abi(void) {{ return TAEDA_ABI; }}
int32_t taeda_ext_init(const taeda_api *api)
{{
    taeda_error error = {{0}};
    taeda_op_def def = {{{size}, 0, "{schema}", 0, 0, 0, 0, ""}};
    {before}
    return api->define_op(&def, &error);
}}"""
GOOD = "refused::f(Tensor x) -> Tensor"


@needs_compiler
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int x;", "is no taeda extension: it lacks taeda_ext_abi and taeda_ext_init"),
        ("#include <stdint.h>\nuint32_t taeda_ext_abi(void){return 1u<<16;}", "it lacks taeda_ext_init"),
        ("#include <stdint.h>\nint32_t taeda_ext_init(void*a){return !a;}", "it lacks taeda_ext_abi$"),
        (ABI.format("2u<<16"), r"needs taeda ABI 2\.0"),
        (ABI.format("0"), r"needs taeda ABI 0\.0"),
        (ABI.format("1u<<16|99"), r"needs taeda ABI 1\.99"),
        (INIT.format(size=8, schema=GOOD, before=""), "taeda_op_def says that it has 8 bytes, at least 56"),
        (INIT.format(size="sizeof def", schema="f(Tensor x) -> Tensor", before=""), "has no namespace"),
        (INIT.format(size="sizeof def", schema="refused::f(Tensr x) -> Tensor", before=""), "'Tensr'"),
        (INIT.format(size="sizeof def", schema="refused::f(Tensor x) -> int", before=""),
            "results of an extension's operator"),
        (INIT.format(size="sizeof def", schema="refused::f(Tensor x) -> Tensor[]", before="")
             .replace("TAEDA_ABI;", "TAEDA_ABI_OF(1, 4);"),
            r"came with taeda ABI 1\.5, and the library was built against 1\.4"),
        (INIT.format(size="sizeof def", schema=GOOD, before="api->define_op(&def, &error);"),
            "multiple times"),
        (INIT.format(size="sizeof def", schema=GOOD,
                     before="taeda_derivative d = {sizeof d, 0, \"refused::g\", \"neg\", 0, 0, 0, "
                     "0}; return api->define_derivative(&d, &error);"),
         "there is no operator 'refused::g'"),
    ],
    ids=["no extension", "no init", "no abi", "wrong major", "major 0", "later minor",
         "short struct", "no namespace", "bad type",
         "bad result", "list too early", "twice", "derivative of nothing"],
)  # fmt: skip
def test_others_are_refused(tmp_path, text, message):
    (tmp_path / "other.c").write_text(text)
    library = build(tmp_path / "other.c", CURRENT, tmp_path / "other.so")
    with pytest.raises(ImportError, match=message):
        taeda.ops.load_library(library)
    assert library not in taeda.ops.loaded_libraries
    with pytest.raises(AttributeError, match="'refused' object has no attribute 'f'"):
        taeda.ops.refused.f


@needs_compiler
def test_a_struct_with_a_field_of_the_future_is_refused(tmp_path):
    text = INIT.format(size="sizeof def", schema=GOOD, before="").replace(
        "return api->define_op(&def, &error);",
        "struct { taeda_op_def def; void *later; } d = {def, &d}; d.def.size = sizeof d; return "
        "api->define_op(&d.def, &error);",
    )
    (tmp_path / "future.c").write_text(text)
    library = build(tmp_path / "future.c", CURRENT, tmp_path / "future.so")
    with pytest.raises(ImportError, match="sets a field that this core"):
        taeda.ops.load_library(library)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is empty"), (b"print('hello')\n", "is no shared library"),
        (b"\x7fELF" + b"\0" * 60, "cannot open the extension")],
    ids=["empty", "text", "broken"],
)  # fmt: skip
def test_files_that_are_no_library(tmp_path, content, message):
    (tmp_path / "file.so").write_bytes(content)
    with pytest.raises(ImportError, match=message):
        taeda.ops.load_library(tmp_path / "file.so")


def test_missing_file_is_refused():
    with pytest.raises(ImportError, match="cannot open the extension"):
        taeda.ops.load_library("/nowhere/at-all.so")
