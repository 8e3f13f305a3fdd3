from pathlib import Path

import by_path
import pytest

ROOT = Path(__file__).parents[2]
where = by_path.load("tools/where.py")


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("exp", {"row", "kernel", "rule", "test"}),
        ("sort", {"row", "operator in C", "rule", "test"}),
        ("index_put_", {"row", "operator in C", "rule"}),
        ("lu_solve", {"row", "composite", "test"}),
    ],
)
def test_an_operator_is_found_by_its_name(name, kinds):
    assert kinds <= {place[0] for place in where.find(ROOT, name)}


def test_a_row_that_a_loop_writes_is_found_in_the_table(capsys):
    assert where.main(["conv2d"]) == 0
    assert "_table/conv.py" in capsys.readouterr().out


def test_calls_and_docstrings_are_no_places():
    texts = [text for _, _, _, text in where.find(ROOT, "exp")]
    assert not any(text.startswith('"""') or "x.exp()" in text.partition(":")[0] for text in texts)


def test_a_name_without_a_row_is_an_error(capsys):
    assert where.main(["no_such_operator"]) == 1
    assert "0 files" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("sort", {"csrc/cpu/sorting/", "rules/sorting.py", "_table/sorting.py"}),
        (
            "cross_entropy",
            {"_table/loss.py", "csrc/ops/loss_class.c", "nn/functional/_loss_classes.py"},
        ),
        ("conv2d", {"_table/conv.py", "csrc/ops/conv/", "csrc/cpu/conv/", "rules/conv.py"}),
        (
            "index_put_",
            {"csrc/ops/indexing/advanced.c", "csrc/cpu/indexing.c", "rules/indexing.py"},
        ),
        (
            "lu_solve",
            {"_table/linalg_solve.py", "_composite/linalg_solve.py", "ops/test_linalg_numbers.py"},
        ),
        ("gamma", {"distributions/gamma.py", "_table/random.py", "csrc/ops/random/gamma.c"}),
    ],
)
def test_a_newcomer_finds_it_by_its_name(name, places, capsys):
    assert where.main([name]) == 0
    told = capsys.readouterr().out
    assert {place for place in places if place not in told} == set()


def test_files_that_make_an_operator_are_counted_and_mere_sayers_are_not():
    made = where.makers(ROOT, ["softplus", "cumsum", "lu_solve"])
    assert {path.rpartition("/")[2] for path in made["cumsum"]} >= {"scan.py", "scan.c"}
    assert not any("/nn/functional" in path or "/tests/" in path for path in made["softplus"])
    assert all(2 <= len(files) <= where.LIMITS["other"] for files in made.values())


def test_no_operator_stands_in_too_many_files_and_every_word_is_needed():
    assert where.check(ROOT) == []


def test_a_name_in_too_many_files_and_a_word_that_is_gone_are_told(monkeypatch):
    monkeypatch.setitem(where.LIMITS, "pointwise", 2)
    monkeypatch.setitem(where.WORDS, "core/csrc/cpu/optim.c", ("add gone", "a variable"))
    wrong = where.check(ROOT)
    assert any(text.startswith("exp: 5 files make it (autograd/") for text in wrong)
    assert "WORDS: core/csrc/cpu/optim.c does not say gone" in wrong


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("flip", "kernel         -  none: a view, or one copied by cpu/run/copy.c"),
        (
            "lu_solve",
            "rule           packages/autograd/src/taeda/autograd/rules/linalg.py  of the family linalg, in",
        ),
        (
            "isclose",
            "kernel         -  none: the operations of _composite/comparison.py have theirs",
        ),
        ("relu", "batching rule  -  that of all pointwise rows, batching/pointwise.py"),
        ("erfinv", "kernel         packages/core/csrc/cpu/special.c:"),
        ("matmul", "test           packages/core/tests/ops/test_matmul.py"),
    ],
)
def test_every_room_has_a_place_or_a_reason(name, told, capsys):
    where.main([name])
    assert told in capsys.readouterr().out


def test_a_room_without_either_is_told(monkeypatch):
    monkeypatch.setattr(where, "_reason", lambda room, row: "")
    assert "flip: no kernel, and no reason why" in where.check(ROOT)


def test_names_beside_rows_are_words_at_their_beginning_if_any_are():
    assert where._akin("cross_entropy") == [
        "_cross_entropy",
        "_cross_entropy_backward",
        "cross_entropy_loss",
    ]
    assert "_standard_gamma" in where._akin("gamma")
    assert where._akin("oss_entr") == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('op("exp(Tensor self) -> Tensor", doc="exp of log")', {"exp"}),
        ('rule("linalg.norm", "sub.Tensor")', {"norm", "sub"}),
        ('"""sort\n"""\ndef sort(): return "log"', {"sort"}),
        ('for n in "add sub".split(): pass', {"add", "sub", "add sub"}),
        ('if mode in ("sum", "mean"): pass', set()),
    ],
)
def test_what_a_python_file_names(text, names):
    assert {name for name, _ in where._python(text)} <= names | {"split"}
    assert names - {"add sub"} <= {name for name, _ in where._python(text)}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("td_status td_op_sort(td_call *call)", {"sort"}),
        ('    {"add.Tensor", rule_add}, {"neg", rule_neg},', {"add", "neg"}),
        ("    X(exp, vexp(x))  \\", {"exp"}),
        ('    COMPLEX_ENTRIES("pow", pow)', {"pow"}),
        ('    FLOAT_ENTRIES("zeta", zeta) FLOAT_ENTRIES("ndtr", ndtr)', {"zeta", "ndtr"}),
        ('    TD_TRY(td_require_entry("where", "where", d, &e));', {"where"}),
        ('    return td_fail(TD_RUNTIME_ERROR, "sum of %s", "bool");', set()),
        ("/* X(exp, 1) */", set()),
    ],
)
def test_what_a_c_file_names(text, names):
    assert {name for name, _ in where._c(text)} == names
