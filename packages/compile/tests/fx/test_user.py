"""The line of the user's program, found from inside of the library."""

from __future__ import annotations

from taeda.fx._user import user_frame, user_line


def test_the_innermost_frame_is_this_one():
    frame = user_frame()
    assert frame.f_code.co_name == "test_the_innermost_frame_is_this_one"
    said = user_line()  # this very line
    assert f'File "{__file__}", line ' in said and "in test_the_innermost_frame_is_this_one" in said
    assert said.endswith("said = user_line()  # this very line")


def test_frames_of_the_library_are_passed_over():
    space = {"__name__": "taeda.inside", "line": user_line, "frame": user_frame}
    exec("def call():\n    return frame(), line()", space)
    frame, said = space["call"]()
    assert frame.f_code.co_name == "test_frames_of_the_library_are_passed_over"
    assert "frame, said" in said


def test_a_module_of_a_name_that_only_begins_so_is_a_users():
    space = {"__name__": "taedaful", "line": user_line}
    exec("def call():\n    return line()", space)
    assert space["call"]() == '  File "<string>", line 2, in call'
