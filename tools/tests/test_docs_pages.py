"""The generated pages: every public name is on one, docstrings become Markdown, charts show what
the figures say.
"""

from __future__ import annotations

import importlib
import json
import re
import xml.etree.ElementTree as ET

import pytest
from by_path import ROOT, load

import taeda

api_pages = load("docs/api_pages.py")
charts = load("docs/charts.py")
kinds_page = load("docs/kinds_page.py")
ops_page = load("docs/ops_page.py")
names_page = load("docs/names_page.py")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    api_pages.write(folder)
    return {path.stem: path.read_text() for path in folder.glob("*.md")}


def test_every_public_name_is_described_once(written):
    text = "\n".join(written.values())
    described = set(re.findall(r"^(?:``````+\{py:\w+\} )?([\w.]+)(?:\(|$)", text, re.M))
    short = {name.rpartition(".")[2] for name in described}
    for module in api_pages.modules():
        for name in api_pages.names_of(importlib.import_module(module)):
            assert name in short or f"`{name} <" in text, f"{module}.{name}"


def test_no_page_has_a_private_name_or_an_address(written):
    for name, text in written.items():
        assert " at 0x" not in text, name
        assert not re.search(r"^``````+\{py:\w+\} _", text, re.M), name


def test_pages_of_modules_that_went_are_removed(tmp_path):
    (tmp_path / "taeda.gone.md").write_text("# old")
    api_pages.write(tmp_path)
    assert not (tmp_path / "taeda.gone.md").exists() and (tmp_path / "index.md").exists()


def test_a_docstring_becomes_markdown():
    made = api_pages._markdown(
        "Sum of *all*.\n\n    dim: which\n        one\n\n>>> 1 + 1\n2\n\nDone."
    )
    assert "\\*all\\*" in made and "- **dim**: which one" in made
    assert "```pycon\n>>> 1 + 1\n2\n```" in made and made.endswith("Done.")


def test_a_layer_shows_its_arguments_and_links_to_its_function(written):
    text = written["taeda.nn"].partition("{py:class} Conv2d(")[2].partition("``````")[0]
    assert "**Args**\n\n- **in_channels**: " in text and "\n- **dtype**: " in text
    assert "**Shape**\n\n- **input**: (N, C, H, W)" in text
    assert "{py:obj}`nn.functional.conv2d <taeda.conv2d>`" in text
    assert "- **\\*args, \\*\\*kwargs**: " in written["taeda.nn"]


def test_an_operation_shows_the_forms_in_which_it_is_called(tmp_path):
    ops_page.write(tmp_path / "ops.md")
    text = (tmp_path / "ops.md").read_text()
    (line,) = [line for line in text.splitlines() if line.startswith("| {py:obj}`add <")]
    assert all(f"`{form}`" in line for form in ("taeda.add", "x.add", "x.add_", "out="))
    for name in re.findall(r"py:obj\}`[\w.]+ <taeda\.([\w.]+)>`", text):
        value = taeda
        for part in name.split("."):
            value = getattr(value, part)
    assert not re.search(r"\{py:obj\}`_|`taeda\.(\w+\.)*_", text)


def test_kinds_compute_what_their_table_says(tmp_path):
    """Of the functions of one tensor: those with a rule give a result, the others say that there is none."""
    kinds_page.write(tmp_path / "kinds.md")
    text = (tmp_path / "kinds.md").read_text()
    x = taeda.tensor([[0.5, 0.0], [0.25, 0.75]])
    made = {
        "coordinates": x.to_sparse(), "rows": x.to_sparse_csr(), "columns": x.to_sparse_csc(),
        "blocks": x.to_sparse_bsr((1, 1)), "masked": taeda.masked.masked_tensor(x, x > 0),
        "nested": taeda.nested.nested_tensor(list(x), layout=taeda.jagged),
        "nested, strided": taeda.nested.nested_tensor(list(x), layout=taeda.strided),
        "quantized": taeda.quantize_per_tensor(x, 0.25, 0, taeda.quint8),
    }  # fmt: skip
    assert set(made) == set(kinds_page.KINDS)
    for name in ("abs", "sin", "cos", "exp", "sigmoid", "neg", "trace", "corrcoef", "inverse"):
        (line,) = [ln for ln in text.splitlines() if ln.startswith(f"| `{name}` |")] or [""]
        # the last column is of names, which any strided tensor may have
        cells = [cell.strip() for cell in line.split("|")[2:-2]] or [""] * len(made)
        for kind, cell in zip(kinds_page.KINDS, cells, strict=True):
            if cell:
                assert getattr(taeda, name)(made[kind]).shape == made[kind].shape, (name, kind)
            else:
                with pytest.raises(NotImplementedError, match=name):
                    getattr(taeda, name)(made[kind])


def test_what_is_absent_is_listed_with_what_to_do(tmp_path):
    ops_page.write_absent(tmp_path / "absent.md")
    assert "`taeda.package`" in (tmp_path / "absent.md").read_text()


def test_charts_show_every_figure(tmp_path):
    charts.write(ROOT / "docs" / "figures.json", tmp_path)
    rows = json.loads((ROOT / "docs" / "figures.json").read_text())
    for row in rows:
        texts = [t.text for t in ET.parse(tmp_path / f"{row['group']}.svg").iter() if t.text]
        assert row["case"] in texts and f"{row['ratio']:.2f}" in texts
    assert (tmp_path / "start.svg").read_text() == (tmp_path / "training.svg").read_text()
    kept = ROOT / "docs" / "images" / "training.svg"  # the README's, which nothing builds
    assert kept.read_text() == (tmp_path / "training.svg").read_text()


def test_a_bar_that_is_slower_has_another_colour():
    made = charts.chart([{"case": "a < b", "ratio": 0.5}, {"case": "c", "ratio": 1.2}])
    root = ET.fromstring(made)
    colours = [e.get("fill") for e in root.iter() if e.tag.endswith("rect")]
    assert colours == [charts.FASTER, charts.SLOWER]


LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("packages/*/*.md")), ids=str
)
def test_links_of_readmes_lead_somewhere(path):
    prose = re.sub(r"```.*?```", "", path.read_text(), flags=re.S)
    for place in LINK.findall(prose):
        assert (path.parent / place).exists(), f"{path.name} links to {place}"


def test_every_page_is_in_the_table_of_contents():
    """And what the table names is there; the build says the same, later."""
    named = set()
    for path in (ROOT / "docs").glob("*.md"):
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text(), re.S):
            lines = [line.strip() for line in tree.splitlines() if line.strip() and line[0] != ":"]
            named |= {re.sub(r".*<(.*)>", r"\1", line) for line in lines}
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    assert pages <= named
    assert {name for name in named if "/" not in name} <= pages


def test_names_of_pytorch_are_found_or_have_a_reason():
    found, reasons = names_page._found, {"taeda.jit": "all of it", "taeda.jit.load": "this one"}
    assert found(["taeda", "nn", "Linear"]) is taeda.nn.Linear
    assert (
        found(["taeda", "autograd", "gradcheck", "gradgradcheck"]) is taeda.autograd.gradgradcheck
    )
    assert found(["taeda", "nn", "no_such"]) is names_page.NOTHING
    assert found(["taeda", "nn", "Linear", "no_such"]) is names_page.UNKNOWN
    assert names_page._reason("jit.load", reasons) == "this one"
    assert names_page._reason("jit.x.y", reasons) == "all of it"
    assert names_page._reason("nothing", reasons) == names_page.NO_REASON


def test_documented_names_are_those_of_the_list():
    documented = set(names_page._listed("torch_names.txt"))
    assert {"nn.Linear", "Tensor.add_", "finfo"} <= documented and len(documented) > 4000
    assert not any(name.startswith("torch.") for name in documented)


def test_rows_of_parity_are_told_at_the_names_they_name():
    rows = names_page._differences()
    assert len(rows) > 60
    assert "by parts" in names_page._said("add", rows) and "by parts" in names_page._said(
        "Tensor.add_", rows
    )
    assert names_page._said("nn.Linear", rows) == ""


def test_what_pytorch_has_without_documenting_it_is_no_name_of_ours_alone():
    more = list(names_page._listed(names_page.MORE))
    assert len(more) == len(set(more)) > 1000
    assert not set(more) & set(names_page._listed("torch_names.txt"))
    assert {"relu", "nn.LayerNorm.forward", "Tensor.exp2"} <= set(more)
    status = {name.name: name.status for name in names_page.names()}
    assert status["relu"] == names_page.SAME
    assert status["array_api.abs"] == names_page.OURS


def test_places_to_break_stand_behind_dots_and_underscores_of_names():
    pytest.importorskip("sphinx", reason="writes the pages")
    found = load("docs/breaks.py")._ENDS.sub("|", "nn.init.eye_ lower_bound a/b _x 1.5 ...")
    assert found == "nn.|init.|eye_ lower_|bound a/|b _x 1.|5 ..."


def test_a_page_of_the_reference_has_no_table_of_files():
    text = "Sums.\n\n    _a.py   small\n            ones\n    parts/  large ones\n\nExact.\n\n    x = 1"
    assert api_pages._for_readers(text) == "Sums.\n\nExact.\n\n    x = 1"
    assert not [
        page.file for page in api_pages._pages() if re.search(r"^    _\w+\.py ", page.text, re.M)
    ]
