"""Methods and attacks that another package brings along."""

import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

import manyveils as mv
from manyveils import plugins
from manyveils.comparing.configurations import usual_names
from manyveils.methods import METHODS, method_names

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "plugin"
FENCE = re.compile(r"^```(?:python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def install(folder, name, groups, monkeypatch):
    """Put a package with entry points on the path, as an installer would."""
    told = folder / f"{name.replace('-', '_')}-0.1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
    lines = [line for group, entries in groups.items() for line in (f"[{group}]", *entries)]
    (told / "entry_points.txt").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(folder))
    plugins._brought.cache_clear()


@pytest.fixture(autouse=True)
def _forget():
    """What a test installs is not there for the next."""
    yield
    plugins._brought.cache_clear()
    sys.modules.pop("manyveils_example", None)


@pytest.fixture
def example(tmp_path, monkeypatch):
    """The example of the documentation, installed."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    groups = {
        group: [f"{name} = {value}" for name, value in entries.items()]
        for group, entries in project["entry-points"].items()
    }
    folder = tmp_path / "site"
    folder.mkdir()
    shutil.copy(EXAMPLE / "manyveils_example.py", folder)
    install(folder, project["name"], groups, monkeypatch)
    return folder


@pytest.mark.usefixtures("example")
def test_a_method_of_another_package_publishes(desk):
    """A method of another package has its keys, publishes, is audited, and its release is read back."""
    desk.policy(publish={"method": "one-group", "view": "all"}, guarantee={"k": 4})
    desk.published()
    assert mv.Release.load(desk.out).manifest.method == "one-group"
    assert [view.name for view in mv.Release.load(desk.out).views] == ["all"]
    assert desk.run("audit", desk.out, "--policy", desk.folder / "policy.toml").status == 0


@pytest.mark.usefixtures("example")
def test_a_method_of_another_package_is_held_to_its_promises(desk):
    """What a method of another package cannot keep is refused, and so are keys that it does not have."""
    desk.policy(publish={"method": "one-group"}, guarantee={"k": 10, "l": 10, "l_kind": "frequency"})
    assert "illness" in desk.refused(status=1)
    desk.policy(publish={"method": "one-group", "depth": 2})
    assert "depth" in desk.refused()


def test_a_method_that_breaks_a_promise_is_stopped(example, desk):
    """What a method of another package publishes against its promises does not appear."""
    module = example / "manyveils_example.py"
    text = module.read_text(encoding="utf-8")
    weak = re.sub(r"top = \{.*\}", "top = {}", text)
    assert weak != text
    module.write_text(weak, encoding="utf-8")
    desk.policy(publish={"method": "one-group"}, guarantee={"k": 4})
    assert "k-anonymity" in desk.refused(status=1)


@pytest.mark.usefixtures("example")
def test_a_method_of_another_package_is_compared(desk):
    """All methods that are compared include those of other packages, and each can be named."""
    policy = mv.Policy(**desk.document).replaced(guarantee={"k": 4})
    names = ["one-group", "separate"]
    compared = mv.compare(desk.folder / "people.csv", policy, methods=names, workers=1)
    assert [result.name for result in compared.results] == names
    assert "one-group" in usual_names()
    assert method_names() == (*METHODS, "one-group")


@pytest.mark.usefixtures("example")
def test_an_attack_of_another_package_is_tried(desk):
    """An attack of another package succeeds where people stand alone, fails where nobody does, and is in all attacks."""
    policy = mv.Policy(**desk.document).replaced(guarantee={"k": 4}, publish={"method": "one-group"})
    data = desk.folder / "people.csv"
    release = mv.publish(data, policy)
    found = mv.attack(release, data, policy, only=["loners"])
    assert found["loners"].success == 0
    bare = policy.replaced(guarantee={"k": 1}, publish={"method": "generalize"})
    assert mv.attack(mv.publish(data, bare), data, bare)["loners"].success > 0


def test_nothing_of_another_package_is_imported_unasked(example, desk):
    """The module of a plugin is imported when its name is asked for, and not before."""
    (example / "manyveils_example.py").write_text("raise RuntimeError")
    desk.policy()
    desk.published()
    desk.policy(publish={"method": "one-group"})
    said = desk.refused("plan", desk.folder / "policy.toml")
    assert "one-group: cannot be loaded (RuntimeError). Mend or uninstall manyveils-example." in said


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("generalize", "brings a name that manyveils has itself"),
        ("one.group", "is not lower-case words"),
        ("a:b", "is not lower-case words"),
    ],
)
def test_names_that_collide_are_refused(tmp_path, monkeypatch, desk, name, told):
    """A method named like ours, or such that it could not be asked for, is refused, whatever is asked for."""
    install(tmp_path, "other", {plugins.METHODS: [f"{name} = other:M"]}, monkeypatch)
    assert told in desk.refused()


def test_two_packages_with_one_name_are_refused(tmp_path, monkeypatch, desk):
    """Two packages that bring an attack of the same name are refused by their names."""
    for package in ("one", "two"):
        folder = tmp_path / package
        folder.mkdir()
        install(folder, package, {plugins.ATTACKS: ["pry = other:pry"]}, monkeypatch)
    desk.published()
    said = desk.refused("attack", desk.out, "--policy", desk.folder / "policy.toml")
    assert "manyveils.attacks: pry: one and two bring the same name. Uninstall one of them" in said


def test_what_is_no_method_is_refused(tmp_path, monkeypatch, desk):
    """An entry point that names something else than a method of its name is refused."""
    install(tmp_path, "other", {plugins.METHODS: ["twist = collections:OrderedDict"]}, monkeypatch)
    desk.policy(publish={"method": "twist"})
    assert "twist: is not a Method of that name. Mend or uninstall other." in desk.refused()


def test_the_page_shows_the_example():
    """What docs/howto/extend.md shows of the example stands in the example."""
    page = (ROOT / "docs" / "howto" / "extend.md").read_text(encoding="utf-8")
    files = [
        (EXAMPLE / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "manyveils_example.py")
    ]
    blocks = FENCE.findall(page)
    assert len(blocks) >= 3
    assert [block for block in blocks if not any(block in file for file in files)] == []
