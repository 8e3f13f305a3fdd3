"""What memory held: blocks with their categories, in four forms of file."""

import base64
import gzip
import json

import pytest

import taeda
from taeda.profiler import profile
from taeda.profiler._timeline import Action, Category


@pytest.fixture
def recorded():
    pytest.importorskip("taeda.autograd", reason="gradients come with taeda-autograd")
    weight = taeda.rand(64, 64, requires_grad=True)
    with profile(profile_memory=True) as prof:
        weight = taeda.rand(64, 64).requires_grad_()
        x = taeda.rand(64, 64)
        loss = (x @ weight).relu().sum()
        loss.backward()
        kept = taeda.ones(1000)
    return prof, weight, loss, kept


def test_blocks_have_their_category(recorded):
    prof, *_ = recorded
    held = {block.category: block.size for block in prof._blocks.blocks if block.given is None}
    assert held[Category.PARAMETER] == held[Category.GRADIENT] == 64 * 64 * 4
    assert {block.category for block in prof._blocks.blocks} >= {
        Category.ACTIVATION, Category.AUTOGRAD_DETAIL, Category.TEMPORARY,
    }  # fmt: skip
    taken = [block for block in prof._blocks.blocks if block.taken is not None]
    assert taken and all(__file__ in block.place for block in taken)


def test_the_sums_are_those_of_the_allocator(recorded, tmp_path):
    prof, weight, loss, kept = recorded
    path = tmp_path / "memory.json"
    prof.export_memory_timeline(str(path))
    times, sizes = json.loads(path.read_text())
    assert times == sorted(times) and all(len(row) == len(Category) + 1 for row in sizes)
    assert sum(sizes[-1]) >= sum(t.nbytes for t in (weight, weight.grad, loss, kept))
    assert min(min(row) for row in sizes) >= 0


def test_four_forms(recorded, tmp_path):
    prof, *_ = recorded
    for name in ("m.json", "m.json.gz", "m.raw.json.gz"):
        prof.export_memory_timeline(tmp_path / name)
    plain = json.loads((tmp_path / "m.json").read_text())
    assert json.loads(gzip.decompress((tmp_path / "m.json.gz").read_bytes())) == plain
    raw = json.loads(gzip.decompress((tmp_path / "m.raw.json.gz").read_bytes()))
    created = [size for _, action, size, _ in raw if action == Action.CREATE.value]
    destroyed = [size for _, action, size, _ in raw if action == Action.DESTROY.value]
    assert created and len(destroyed) < len(created) and 4000 in created


def test_a_page_holds_its_picture(recorded, tmp_path):
    pytest.importorskip("matplotlib", reason="the plot is drawn by matplotlib")
    prof, *_ = recorded
    prof.export_memory_timeline(tmp_path / "m.html")
    text = (tmp_path / "m.html").read_text()
    picture = text.partition("base64,")[2].partition('"')[0]
    assert base64.b64decode(picture).startswith(b"\x89PNG") and "http" not in text


@pytest.mark.parametrize("name", ["m.txt", "m", "m.gz", "m.json.zip"])
def test_another_ending_is_refused(recorded, tmp_path, name):
    with pytest.raises(ValueError, match=r"has to end in \.html"):
        recorded[0].export_memory_timeline(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_it_has_to_be_recorded(tmp_path):
    with profile() as prof:
        taeda.ones(2)
    with pytest.raises(RuntimeError, match="profile_memory=True"):
        prof.export_memory_timeline(tmp_path / "m.json")
    with pytest.raises(RuntimeError, match="nothing is recorded"):
        profile().export_memory_timeline(tmp_path / "m.json")


def test_writes_in_place_are_new_versions():
    with profile(profile_memory=True) as prof:
        x = taeda.ones(100)
        x.zero_()
    (block,) = (one for one in prof._blocks.blocks if one.taken is not None and one.size == 400)
    assert len(block.written) == 1 and block.written[0] >= block.taken
    actions = {action for _, action, _, _ in prof._blocks.points(0)}
    assert {Action.CREATE, Action.INCREMENT_VERSION} <= actions


def test_the_state_of_an_optimizer_is_known():
    optim = pytest.importorskip("taeda.optim", reason="state of optimizers")
    weight = taeda.rand(50, 50, requires_grad=True)
    optimizer = optim.Adam([weight])
    with profile(profile_memory=True) as prof:
        weight.square().sum().backward()
        optimizer.step()
    kinds = [
        block.category
        for block in prof._blocks.blocks
        if block.given is None and block.size == 10000
    ]
    assert kinds.count(Category.OPTIMIZER_STATE) == 2 and kinds.count(Category.GRADIENT) == 1
