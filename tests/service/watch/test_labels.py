"""Label sets and the series that they come to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from subadjacent.service.request_body import check_series_name
from subadjacent.service.watch.labels import describe, exposed, group, place

CPUS = [
    (("__name__", "busy"), ("cpu", cpu), ("host", host))
    for host in ("b", "a")
    for cpu in ("1", "0")
]


def test_each_label_set_is_a_series_by_default() -> None:
    found = group(CPUS, None, "cpus")
    assert list(found) == sorted(CPUS)
    assert found[CPUS[0]] == {"cpus": CPUS[0]}


def test_label_sets_that_share_labels_are_channels_in_the_order_of_their_names() -> None:
    found = group(CPUS, ("host",), "cpus")
    assert list(found) == [(("host", "a"),), (("host", "b"),)]
    assert found[(("host", "a"),)] == {"busy,cpu=0": CPUS[3], "busy,cpu=1": CPUS[2]}


def test_no_label_to_group_by_makes_one_series_of_all() -> None:
    assert list(group(CPUS, (), "cpus")) == [()]


def test_a_label_set_without_other_labels_is_called_as_the_query() -> None:
    assert place((("host", "a"),), ("host",), "cpus")[1] == "cpus"
    assert place((), (), "cpus")[1] == "cpus"


def test_values_that_could_be_taken_for_several_labels_are_quoted() -> None:
    assert place((("path", "a,b=c"),), (), "q")[1] == 'path="a,b=c"'
    assert place((("path", ""),), (), "q")[1] == 'path=""'


def test_labels_of_ours_push_a_series_own_aside() -> None:
    assert exposed((("channel", "c"), ("exported_channel", "d"), ("metric", "m")), "q") == {
        "query": "q",
        "exported_channel": "c",
        "exported_exported_channel": "d",
        "exported_metric": "m",
    }
    assert exposed((("a.b", "1"), ("a_b", "2")), "q") == {
        "query": "q",
        "a_b": "1",
        "exported_a_b": "2",
    }


def test_a_series_is_described_in_one_line() -> None:
    assert describe(CPUS[0], "cpus") == "cpus {busy,cpu=1,host=b}"
    assert describe((), "cpus") == "cpus"


def test_every_name_is_one_that_a_series_may_have_and_no_two_are_the_same() -> None:
    paths = ["/var", "\u2215var", "v" * 300, "v" * 301, "a\nb", "a\x00b", "a\x01b"]
    names = [describe((("path", path),), "disk / 2") for path in paths]
    assert len(set(names)) == len(names)
    for name in names:
        check_series_name(name)
    assert names[0] == "disk \u2215 2 {path=\u2215var}"


label_sets = st.sets(
    st.dictionaries(st.sampled_from("abc"), st.text(',="x', max_size=3), max_size=3).map(
        lambda pairs: tuple(sorted(pairs.items()))
    )
)


@given(found=label_sets, groupby=st.sets(st.sampled_from("abc")))
def test_every_label_set_has_a_channel_of_its_own(
    found: set[tuple[tuple[str, str], ...]], groupby: set[str]
) -> None:
    grouped = group(found, tuple(groupby), "q")
    placed = [labels for channels in grouped.values() for labels in channels.values()]
    assert sorted(placed) == sorted(found)
