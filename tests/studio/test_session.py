"""Sessions: what was chosen is there again the next time, undo included; nothing of the data is, and files of others stay."""

import json
import stat

from manyveils.studio import document
from manyveils.studio.promises import with_promise
from manyveils.studio.session import file_of
from manyveils.studio.trying import Wish
from manyveils.studio.workbench import open_workbench
from tests.studio.test_workbench import ended


def changed(table):
    """A workbench with two changes and some choices."""
    bench = open_workbench(table)
    bench.change(with_promise(bench.text, "k", 4))
    bench.change(with_promise(bench.text, "t", 0.4))
    bench.choose(wish=Wish("none", "income"), axes=("loss", "gain"), levels={"age": 2})
    return bench


def test_a_session_is_restored_and_can_be_undone(table):
    """The text, its earlier states and the choices are there again for whoever opens the same data."""
    first = open_workbench(table).text
    text = changed(table).text
    again = open_workbench(table)
    assert again.text == text
    assert (again.wish, again.axes, again.levels) == (Wish("none", "income"), ("loss", "gain"), {"age": 2})
    again.undo()
    again.undo()
    assert again.text == first


def test_looking_alone_writes_nothing(table):
    """Without a change there is no session."""
    open_workbench(table).policy()
    assert [path.name for path in table.parent.iterdir()] == [table.name]


def test_a_session_holds_no_data(table):
    """Nothing in the file is a cell of the table that the proposed policy does not hold, and only its owner reads it."""
    bench = changed(table)
    ended(bench.try_method(seed=1).job)
    file = file_of(bench.policy_file)
    told = file.read_text()
    names = {name for name in bench.frame["name"] if name not in bench.text}
    assert names
    assert not any(name in told for name in names)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_policy_that_was_written_goes_on_with_its_session(table):
    """After a release the data open with the policy that was written for them, and the policy opens with the session."""
    bench = changed(table)
    bench.change(with_promise(bench.text, "t", None))
    bench.save()
    assert open_workbench(table).name == bench.name
    by_policy = open_workbench(bench.policy_file)
    assert by_policy.text == bench.text
    assert by_policy.earlier == bench.earlier


def test_a_policy_changed_by_somebody_else_comes_first(table):
    """The file as it stands is opened, and undo leads back to what the session had."""
    bench = changed(table)
    bench.save()
    bench.change(with_promise(bench.text, "k", 7))
    theirs = document.with_key(bench.saved, "guarantee", "k", 9)
    bench.policy_file.write_text(theirs)
    again = open_workbench(bench.policy_file)
    assert again.text == theirs
    again.undo()
    assert again.text == bench.text


def test_two_studios_do_not_overwrite_each_other(table):
    """The session of whoever wrote last stays; the other one is told, and goes on without."""
    one, two = open_workbench(table), open_workbench(table)
    one.change(with_promise(one.text, "k", 4))
    two.change(with_promise(two.text, "k", 6))
    assert (one.is_kept, two.is_kept) == (True, False)
    assert json.loads(file_of(one.policy_file).read_text())["text"] == one.text
    assert "k = 6" in two.text


def test_damaged_sessions_are_left_alone(table):
    """What is no session of ours is neither read nor overwritten."""
    file = file_of(table.parent / "policy.toml")
    for content in ("{", "[]", '{"version": 1, "text": 3}', '{"version": 99}'):
        file.write_text(content)
        bench = open_workbench(table)
        bench.change(with_promise(bench.text, "k", 4))
        assert file.read_text() == content
        assert not bench.is_kept
