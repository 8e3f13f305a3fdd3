"""Portions of test files hold every file once; what pytests counted is added up; a failure is told."""

from pathlib import Path

import by_path
import pytest

tests_all = by_path.load("tools/hold/tests_all.py")


def test_each_file_is_in_one_portion_of_its_package():
    files = [(f"packages/{name}/tests/test_{n}.py", 10 * n) for name in "abc" for n in range(1, 8)]
    dealt = tests_all.portions(files, most=100)
    assert sorted(name for portion in dealt for name in portion.files) == sorted(
        name for name, _ in files
    )
    assert all(len({Path(name).parts[:2] for name in portion.files}) == 1 for portion in dealt)
    assert all(portion.size <= 100 for portion in dealt)
    assert [portion.size for portion in dealt] == sorted(
        (portion.size for portion in dealt), reverse=True
    )


def test_a_file_above_the_measure_is_alone():
    dealt = tests_all.portions([("a/b/1", 500), ("a/b/2", 1)], most=100)
    assert [portion.files for portion in dealt] == [("a/b/1",), ("a/b/2",)]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("...\n3 passed in 0.1s", {"passed": 3}),
        ("== 1 failed, 2 passed, 1 skipped in 3s ==", {"failed": 1, "passed": 2, "skipped": 1}),
        ("no tests ran in 0.01s", {}),
    ],
)
def test_counts(said, expected):
    assert dict(tests_all.counts(said)) == expected


def test_every_default_test_is_found():
    names = {name for name, _ in tests_all.files_of_tests([])}
    assert "tools/tests/test_tests_all.py" in names
    assert any(name.startswith("packages/core/tests/ops/") for name in names)
    assert not any("tests_parity" in name for name in names)


def test_files_below_some_places():
    one = "packages/core/tests/runtime"
    found = {name for name, _ in tests_all.files_of_tests([one, "tools/tests/test_tests_all.py"])}
    assert "tools/tests/test_tests_all.py" in found
    assert {name for name in found if name.startswith(one)} == found - {
        "tools/tests/test_tests_all.py"
    }
    assert len(found) > 1


def test_files_that_set_a_mark_without_some_folders():
    every = {name for name, _ in tests_all.files_of_tests([], marked="slow")}
    device = {name for name in every if name.startswith("packages/core/tests/cuda/")}
    found = {name for name, _ in tests_all.files_of_tests([], "slow", ["packages/core/tests/cuda"])}
    assert device and found == every - device
    assert "packages/distributed/tests/tensor/test_on_gpus.py" in found


@pytest.mark.parametrize(("body", "status"), [("pass", 0), ("assert 0", 1), ("import nowhere", 1)])
def test_the_status_of_a_portion_is_that_of_its_pytest(tmp_path, body, status):
    file = tmp_path / "test_one.py"
    file.write_text(f"def test_it():\n    {body}\n")
    portion = tests_all.Portion((str(file),), 1)
    assert tests_all.run(portion, ("-c", "/dev/null"), tmp_path)[0] == status


def test_slow_tests_are_read_from_what_pytest_says(tmp_path):
    file = tmp_path / "test_one.py"
    file.write_text(
        "import time\n\ndef test_slow():\n    time.sleep(1.1)\n\ndef test_fast():\n    pass\n"
    )
    _, said = tests_all.run(tests_all.Portion((str(file),), 1), ("-c", "/dev/null"), tmp_path)
    [(seconds, name)] = tests_all.slowest(said)
    assert seconds >= 1.1 and name.endswith("test_slow")
    assert tests_all.counts(said)["passed"] == 2


def test_the_last_words_of_a_process_that_dies_are_told(tmp_path):
    file = tmp_path / "test_one.py"
    file.write_text(
        "import os\n\ndef test_it():\n    os.write(2, b'a sanitizer speaks')\n    os._exit(1)\n"
    )
    status, said = tests_all.run(tests_all.Portion((str(file),), 1), ("-c", "/dev/null"), tmp_path)
    assert (status, "a sanitizer speaks" in said) == (1, True)


def test_shares_are_all_tests_together_and_each_once(tmp_path):
    (tmp_path / "test_one.py").write_text(
        "import pytest\n\n@pytest.mark.parametrize('n', range(40))\ndef test_it(n):\n    pass\n"
    )
    portion = tests_all.Portion((str(tmp_path / "test_one.py"),), 1)
    passed = []
    for part in ("0/3", "1/3", "2/3"):
        status, said = tests_all.run(portion, ("-c", "/dev/null"), tmp_path, part)
        assert status == 0
        passed.append(tests_all.counts(said)["passed"])
    assert sum(passed) == 40 and min(passed) > 5


@pytest.mark.parametrize("part", ["3/3", "1", "a/b", "-1/3"])
def test_a_share_that_is_none_is_refused(part):
    with pytest.raises(SystemExit, match=f"written as 0/3, for the first of three; got '{part}'"):
        by_path.load("tools/hold/share.py").Share(part)
