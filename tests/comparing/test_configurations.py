"""Methods × parameters: which configurations there are, and what is refused."""

from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyveils as mv
from manyveils.comparing.ask import read_attacks
from manyveils.comparing.configurations import (
    MOST,
    configurations,
    name_problems,
    read_variations,
    usual_names,
)
from manyveils.methods import METHODS, load, read_options

NUMBERS = {
    "k": st.integers(3, 50),
    "t": st.sampled_from([0.1, 0.2, 0.5]),
    "suppression": st.sampled_from([0, 0.01, 0.1]),
    "slice.columns": st.integers(2, 5),
}


def policy(**sections):
    return mv.datasets.hospital_policy(**sections)


@given(
    st.lists(st.sampled_from(["generalize", "slice", "anatomize"]), min_size=1, max_size=3, unique=True),
    st.dictionaries(st.sampled_from(list(NUMBERS)), st.integers(1, 3), max_size=3),
    st.data(),
)
def test_all_combinations(methods, asked, data):
    """There is one configuration per method and combination of the values that apply to it, by a plain product."""
    asked = {key: n for key, n in asked.items() if not key.startswith("slice") or "slice" in methods}
    vary = {
        key: data.draw(st.lists(NUMBERS[key], min_size=n, max_size=n, unique=True))
        for key, n in asked.items()
    }
    wanted = []
    for method in methods:
        keys = [key for key in vary if not key.startswith("slice.") or method == "slice"]
        wanted += [
            (method, dict(zip(keys, values, strict=True))) for values in product(*(vary[k] for k in keys))
        ]
    if len(wanted) > MOST:
        with pytest.raises(mv.InputError, match=f"{len(wanted)} configurations, {MOST} at most"):
            configurations(policy(), methods, read_variations(vary))
        return
    found = configurations(policy(), methods, read_variations(vary))
    assert [(each.publish["method"], dict(each.changed)) for each in found] == wanted
    assert len({each.name for each in found}) == len(found)
    for each in found:
        for key, value in each.changed.items():
            section = each.publish if key in ("suppression", "slice.columns") else each.guarantee
            assert section[key.rpartition(".")[2]] == value


def test_every_method_by_default():
    """Without names all methods are compared, generalize in both recodings."""
    found = configurations(policy(), None, ())
    assert {each.publish["method"] for each in found} == set(METHODS)
    assert [each.name for each in found] == list(usual_names())


def test_every_variant_is_a_sound_policy():
    """What stands behind a colon sets keys that the method knows."""
    for method in METHODS:
        for variant in load(method).variants:
            way = configurations(policy(), [f"{method}:{variant}"], ())[0]
            read_options(way.of(policy(attributes={"age": {"role": "quasi"}, "ill": {"role": "sensitive"}})))


def test_the_same_is_not_done_twice():
    """Two names of one configuration are one, and the policy's own keys belong to its own method."""
    own = policy(publish={"method": "generalize", "recoding": "mondrian"})
    assert [each.name for each in configurations(own, ["generalize", "generalize:mondrian"], ())] == [
        "generalize"
    ]
    assert len(configurations(own, ["generalize", "generalize:full-domain"], ())) == 2
    assert "recoding" not in configurations(own, ["slice"], ())[0].publish


def test_a_key_can_be_left_out():
    """`none` takes a key out of the section."""
    with_t = policy(guarantee={"k": 5, "t": 0.4})
    found = configurations(with_t, ["slice"], read_variations(["t=none,0.3"]))
    assert [each.guarantee.get("t") for each in found] == [None, 0.3]
    assert [each.name for each in found] == ["slice, t = none", "slice, t = 0.3"]


def test_values_as_toml_writes_them():
    """Numbers, texts, lists and switches are read as in a policy file."""
    read = read_variations(
        [
            'slice.columns=2,[["age","sex"],["job"]]',
            "slice.partition=random,mondrian",
            "conditional=true,false",
        ]
    )
    assert read[0].values == (2, [["age", "sex"], ["job"]])
    assert read[1].values == ("random", "mondrian")
    assert read[2].values == (True, False)


@pytest.mark.parametrize("n", [MOST, MOST + 1])
def test_no_more_than_the_bound(n):
    """As many configurations as the bound are taken, and one more is refused with how many there are."""
    vary = read_variations({"k": list(range(3, 3 + n))})
    if n == MOST:
        assert len(configurations(policy(), ["slice"], vary)) == MOST
        return
    with pytest.raises(mv.InputError, match=f"{MOST + 1} configurations, {MOST} at most"):
        configurations(policy(), ["slice"], vary)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["k"], "'k' is not a key and its values. For example k=2,5,10"),
        (["k="], "is not a key and its values"),
        (["columns=2,3"], "Write the keys of a method with its name, such as slice.columns."),
        (["suppresion=0"], "Did you mean 'suppression'?"),
        (["k=many"], "vary k: 'many': should be a valid integer"),
        (["k=0"], "greater than or equal to 1"),
        (["suppression=2"], "must be a share from 0 to 1"),
        (["slice.colums=2"], "unknown key. Did you mean 'columns'?"),
        (["slices.columns=2"], "Did you mean 'slice'?"),
        (["slice.method=codip"], "List them in --methods"),
        (["k=2", "k=3"], "is given twice"),
        (["codip.beta=0.5"], "codip is not among the methods"),
    ],
)
def test_what_cannot_be_varied(asked, said):
    """Wrong keys and values are refused with what would be right."""
    with pytest.raises(mv.InputError) as error:
        configurations(policy(), ["slice"], read_variations(asked))
    assert said in str(error.value)


def test_all_problems_at_once():
    """Several wrong variations are told together."""
    with pytest.raises(mv.InputError) as error:
        read_variations(["k=0", "slice.colums=2", "magic=1"])
    assert len(error.value.problems) == 3


def test_unknown_methods_and_attacks():
    """Names that are not known are refused, with the nearest that is."""
    said = [str(problem) for problem in name_problems(["slic", "generalize:mondrain", "separate:fast"])]
    assert "Did you mean 'slice'?" in said[0]
    assert "Did you mean 'mondrian'?" in said[1]
    assert "Say separate." in said[2]
    assert read_attacks("none") == ()
    assert len(read_attacks("all")) > 10
    assert read_attacks("homogeneity, linkage") == ("linkage", "homogeneity")
    with pytest.raises(mv.InputError, match="Did you mean 'linkage'"):
        read_attacks("linkag")


def test_the_product_is_counted_before_it_is_made():
    """A billion combinations are refused at once."""
    vary = read_variations(
        {key: list(range(3, 60)) for key in ("k", "l", "n", "m", "eliminations")} | {"eliminations": [1]}
    )
    assert prod(len(each.values) for each in vary) > 10**6
    with pytest.raises(mv.InputError, match="at most"):
        configurations(policy(), ["slice"], vary)
