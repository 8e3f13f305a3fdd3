"""The page stays small, whatever ran, and is well-formed."""

from taeda.profiler._collect import Range
from taeda.profiler._page import page
from taeda.profiler._watch import Watch


def noted(count, name):
    watch = Watch()
    for number in range(count):
        one = Range(name(number), "", "cpu_op", None)
        one.start, one.end = number * 10**6, number * 10**6 + 10**5 + number
        watch.ranges.append(one)
        watch.curve.append((one.end, number * 10**9))
    return watch


def test_a_long_run_is_below_two_megabytes():
    for name in (lambda n: "aten::add", lambda n: f"{n}" + "\u20ac" * 200):
        data = page(noted(40_000, name), "long.py", 10**10)
        assert len(data) < 2 * 10**6 and b"15,000 longest of 40,000" in data


def test_names_are_text():
    data = page(noted(3, lambda n: "</script><b>@DATA@"), "<i>.py", 10**7).decode()
    assert "<b>@DATA" not in data and "<i>" not in data and data.count("</script>") == 1


def test_nothing_ran():
    assert b"None was found." in page(Watch(), "empty.py", 0)
