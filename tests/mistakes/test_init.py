"""What people get wrong with `init`, and the message they get."""

import pytest


def init(desk, data="people.csv", out="new.toml"):
    return "init", desk.folder / data, "-o", desk.folder / out


def test_existing_policy(desk):
    """An existing policy is not replaced by itself."""
    assert "policy.toml: is there already. Choose another place, or give --force." in desk.refused(
        *init(desk, out="policy.toml")
    )


def test_no_such_data(desk):
    """Data that are not there are refused by name."""
    assert "nothing.csv: there is no such data file." in desk.refused(*init(desk, "nothing.csv"))


def test_folder(desk):
    """A folder is neither data nor a policy."""
    (desk.folder / "some.toml").mkdir()
    assert "is a folder." in desk.refused("init", desk.folder, "-o", desk.folder / "new.toml")
    assert "some.toml: is a folder." in desk.refused(*init(desk, out="some.toml"))
    assert "its folder does not exist" in desk.refused(*init(desk, out="nowhere/new.toml"))


def test_other_ending(desk):
    """A policy is written as TOML only."""
    assert "End its name in .toml." in desk.refused(*init(desk, out="new.json"))


def test_over_the_data(desk):
    """The data are never overwritten, not even with --force."""
    desk.data("a,b\n1,2\n", "data.toml")
    assert "is the data file itself" in desk.refused(*init(desk, "data.toml", "data.toml"), "--force")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty."),
        ("a,b\n", "there is a header but no row."),
        ("a,a\nZq7,Zq7\n", "columns 1 and 2 have the same name."),
        ("bucket,a\nZq7,Zq7\n", "a column is called 'bucket'"),
        ("39,Zq7,13\n50,Zq7,14\n", "2 of 3 column names are numbers, as if the header were missing."),
        (
            "Zq7,Zq8,a\nZq6,Zq8,b\nZq7,Zq5,c\n",
            "2 of 3 column names stand among their own cells, as if the header",
        ),
        (b"a,b\n1,\xff\n", "is not valid UTF-8."),
    ],
    ids=["empty", "header", "doubled", "bucket", "headerless", "headerless texts", "binary"],
)
def test_data(desk, content, message):
    """Data without rows, names or text are refused with what is wrong."""
    desk.data(content, "bad.csv")
    assert message in desk.refused(*init(desk, "bad.csv"))


def test_nothing_to_publish(desk):
    """If every column names people, no policy is made, and every reason is told."""
    desk.data("name,key\n" + "".join(f"Zq7{n},Zq7{n}\n" for n in range(9)), "names.csv")
    message = desk.refused(*init(desk, "names.csv"))
    assert "no column is left to publish." in message
    assert "key: Its name suggests a number of records, and 100 % of its cells differ." in message
