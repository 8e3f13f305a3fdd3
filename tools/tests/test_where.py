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
    assert "0 sources" in capsys.readouterr().out


def test_files_that_make_an_operator_are_counted_and_mere_sayers_are_not():
    made = where.makers(ROOT, ["softplus", "cumsum", "lu_solve"])
    assert {path.rpartition("/")[2] for path in made["cumsum"]} >= {"scan.py", "scan.c"}
    assert not any("/nn/functional" in path or "/tests/" in path for path in made["softplus"])
    assert all(2 <= len(files) <= where.LIMITS["other"] for files in made.values())
