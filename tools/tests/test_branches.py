"""What `tools/hold/branches.py` counts: branches of a listing of gcov, and of a report of coverage."""

from __future__ import annotations

import by_path

branches = by_path.load("tools/hold/branches.py")

LISTING = """        -:    0:Source:../../csrc/dispatch/bind.c
       12:    3:    if (a && b) {
branch  0 taken 12 (fallthrough)
branch  1 taken 0
branch  2 never executed
    #####:    4:        f();
call    0 never executed
        2:    5:    if (!list) return -1;
branch  0 taken 0 (fallthrough)
branch  1 taken 2
"""


def test_branches_of_a_listing():
    share = branches.of_c(LISTING)
    assert (share.taken, share.count) == (2, 5)
    assert share.open == ["3: if (a && b) {"] * 2 + ["5: if (!list) return -1;"]


def test_what_is_excused_does_not_count_and_no_more_is():
    excused = {"if (!list) return -1;": (1, "out of memory"), "if (a && b) {": (1, "why")}
    share = branches.of_c(LISTING, excused)
    assert (share.taken, share.count, share.needless) == (2, 3, [])
    share = branches.of_c(LISTING, {"if (!list) return -1;": (2, "more"), "gone": (1, "gone")})
    assert share.needless == ["if (!list) return -1;", "gone"]


def test_branches_of_a_report():
    facts = {
        "summary": {"num_branches": 4, "covered_branches": 3},
        "missing_branches": [[7, 9]],
    }
    assert branches.of_python(facts) == (3, 4, ["7: to 9"], [])


def test_a_share_below_is_a_sentence(capsys):
    few, all_of_it = branches.Share(1, 2, ["3: x"], []), branches.Share(2, 2, [], ["y"])
    wrong = branches.judge({"a.c": few, "b.c": all_of_it}, ["a.c", "b.c", "c.c"], tell=True)
    assert [line.partition(":")[0] for line in wrong] == ["c.c", "a.c", "b.c"]
    assert "3: x" in capsys.readouterr().out
