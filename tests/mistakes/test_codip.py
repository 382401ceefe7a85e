"""Limits that no plan meets and plans that are no plans: what is wrong, what can be reached, and how."""

import numpy as np
import polars as pl
import pytest

import manyveils as mv

ROWS = [
    f"Zq7name{i},{20 + i % 6},Zq7job{i % 5},Zq7ill{i % 4},Zq7pay{i % 4 // 2},Zq7flu|Zq7gout"
    for i in range(48)
]


@pytest.fixture
def several(desk):
    """A desk with four sensitive attributes, one multi-valued."""
    desk.data(
        "\n".join(["name,age,job,illness,pay,more", *ROWS[:-8], *(row[:-8] for row in ROWS[-8:])]) + "\n"
    )
    attributes = desk.document["attributes"]
    del attributes["city"]
    attributes |= {name: {"role": "sensitive"} for name in ("job", "illness", "pay")}
    attributes["more"] = {"role": "sensitive", "multivalued": "|"}
    desk.document |= {"guarantee": {"k": 2}, "publish": {"method": "codip"}}
    return desk


def refusal(desk, status, **publish):
    """Refuse to publish with these keys."""
    desk.policy(publish=publish)
    return desk.refused("publish", desk.folder / "policy.toml", "--out", desk.out, status=status)


def test_too_lossy(several):
    """A loss above alpha says what was lost, why merging stopped, the best plan there is, and what would do."""
    message = refusal(several, 1, alpha=0.0001, beta=0.05)
    assert "publish.alpha: the plan found loses" in message
    assert "more than alpha = 0.0001; the next merge" in message
    assert "exposes too much" in message
    assert "The best plan within beta = 0.05 loses" in message
    assert "Raise alpha to" in message


def test_the_remedy_for_loss_works(several):
    """The alpha that the message names is met."""
    message = refusal(several, 1, alpha=0.0001, beta=0.05)
    named = float(message.split("Raise alpha to ")[1].split(",")[0].rstrip("."))
    several.policy(publish={"alpha": named, "beta": 0.05})
    several.published()


def test_another_search_would_do():
    """Where only the search was too greedy, the message says so, and the other search does."""
    rng = np.random.default_rng(0)
    a, c = rng.integers(0, 3, 40), rng.integers(0, 2, 40)
    b, d = (a + (rng.random(40) < 0.3)) % 3, (c + (rng.random(40) < 0.3)) % 2
    fields = {
        "age": rng.integers(20, 22, 40),
        **dict(zip("abcd", (x.astype(str) for x in (a, b, c, d)), strict=True)),
    }
    roles = {"age": {"role": "quasi"}} | {
        name: {"role": "sensitive", "kind": "categorical"} for name in "abcd"
    }
    publish = {"method": "codip", "alpha": 0.2, "beta": 0.35}
    policy = {"attributes": roles, "guarantee": {"k": 2}}
    with pytest.raises(mv.InfeasibleError, match='Use search = "optimal"'):
        mv.publish(pl.DataFrame(fields), policy | {"publish": publish})
    notes = mv.publish(pl.DataFrame(fields), policy | {"publish": {**publish, "search": "optimal"}}).notes
    assert notes["association_loss"] <= 0.2


def test_too_coarse(several):
    """A discernibility that no table meets says for which attributes, and what can be reached."""
    message = refusal(several, 1, discernibility=10)
    assert "publish.discernibility: no table with job keeps every promise within 10" in message
    assert message.count("more (1 of 2 values)") == 1


def test_not_close_enough(several):
    """A closeness that no table reaches within the limit is told with the best that can be."""
    several.document["guarantee"]["t"] = 0.01
    message = refusal(several, 1, discernibility=450)
    assert "the best closeness within it is" in message
    assert "raise t to" in message


@pytest.mark.parametrize(
    ("plan", "complaint"),
    [
        ([["job", "illness"], ["pay"]], "'more' stands in no tables"),
        ([["job", "illness"], ["pay", "job"], ["more"]], "'job' stands in 2 tables"),
        ([["job", "ilness"], ["pay"], ["more"]], "'ilness' is not a sensitive attribute"),
        ([["job", "age"], ["illness", "pay"], ["more"]], "'age' is not a sensitive attribute"),
        ([["job", "ilness"], ["pay"], ["more"]], "Did you mean 'illness'?"),
        (["job", "pay"], "must be a list of lists, one per table"),
        ([], "must be a list of lists, one per table"),
    ],
)
def test_plans(several, plan, complaint):
    """A plan must name every sensitive attribute once, and nothing else."""
    assert complaint in refusal(several, 2, plan=plan)


def test_own_plan_exposes(several):
    """A plan of one's own is held to beta where beta is given, and published where it is not."""
    everything = [["job", "illness", "pay", "more"]]
    message = refusal(several, 1, plan=everything, beta=0.5)
    assert "exposes 1.0000, more than beta = 0.5" in message
    assert "more (2 of 2 values)" in message
    several.policy(publish={"plan": everything})
    several.published()


def test_own_plan_loses(several):
    """A plan of one's own that loses too much is called so, and the advice leads away from it."""
    message = refusal(several, 1, plan=[["job"], ["illness"], ["pay"], ["more"]], alpha=0.5)
    assert "the plan given loses" in message
    assert "rop plan" in message


def test_default_beta_is_told(several):
    """A limit that nobody wrote is called the default."""
    several.document["attributes"]["more"] = {"role": "identifier"}
    several.document["data"]["person"] = "name"
    several.document["guarantee"] |= {"l": 2, "joint": [["job", "illness", "pay"]]}
    message = refusal(several, 1)
    assert "more than beta = 0.3, the default" in message
    assert "protect fewer attributes as one" in message


@pytest.mark.parametrize(
    ("key", "value"),
    [("alpha", 1.5), ("beta", -0.1), ("discernibility", 0), ("search", "best"), ("beta", True)],
)
def test_keys(several, key, value):
    """Keys out of range are refused by name."""
    assert f"publish.{key}" in refusal(several, 2, **{key: value})
