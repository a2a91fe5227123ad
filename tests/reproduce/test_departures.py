"""Plants with one departure: each kind is what it is called, and nothing else is changed."""

from __future__ import annotations

import numpy as np
import pytest

from reproduce.cases.departures import (
    AFTER,
    BEFORE,
    BEYOND,
    CALMER,
    CYCLES,
    DELAY,
    DRIFTING,
    FOR_GOOD,
    KINDS,
    MOST_REACHED,
    NOISIER,
    PARTING,
    SPIKE,
    STEP,
    STEP_OF_RHYTHM,
    WEAKER,
    DepartureCase,
    departure_case,
)
from reproduce.cases.natures import Channel, normal_plant
from subadjacent.data.synthetic import Floats
from subadjacent.errors import InputError

ROWS, TEST_ROWS = 3000, 1500
SEEDS = range(24)
ALONE = ("stuck", "lower variance", "decoupled", "missing")


class Drawn:
    """A case beside the same plant before the departure."""

    def __init__(self, kind: str, seed: int) -> None:
        self.case: DepartureCase = departure_case(kind, np.random.default_rng(seed))
        self.plant = normal_plant(np.random.default_rng(seed), ROWS + TEST_ROWS)
        self.base = np.column_stack([one.values for one in self.plant])[ROWS:]
        self.one: Channel = self.plant[self.case.channel]
        self.where = slice(self.case.start, self.case.stop)
        self.length = self.case.stop - self.case.start
        self.before: Floats = self.base[self.where, self.case.channel]
        self.after: Floats = self.case.test[self.where, self.case.channel]
        self.moved: Floats = self.after - self.before

    def part(self, values: Floats) -> Floats:
        return values[ROWS:][self.where]


_drawn: dict[str, list[Drawn]] = {}


def drawn(kind: str) -> list[Drawn]:
    """Drawn once for all tests."""
    if kind not in _drawn:
        _drawn[kind] = [Drawn(kind, seed) for seed in SEEDS]
    return _drawn[kind]


def test_the_kinds_are_those_that_explanations_name() -> None:
    assert KINDS == (
        "spike",
        "out of range",
        "level shift (permanent)",
        "drift",
        "stuck",
        "higher variance",
        "lower variance",
        "unusual shape",
        "decoupled",
        "missing",
    )


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_planted_rows_and_what_they_reach_later_are_changed(kind: str) -> None:
    for one in drawn(kind):
        case = one.case
        assert case.kind == kind
        assert case.train.shape == (ROWS, 20)
        assert case.test.shape == (TEST_ROWS, 20)
        train = np.column_stack([channel.values for channel in one.plant])[:ROWS]
        np.testing.assert_array_equal(case.train, train)
        changed = case.test != one.base  # a missing value is unlike any
        reached = set() if kind in ALONE else set(case.others)
        assert set(np.flatnonzero(changed.any(axis=0))) == {case.channel} | reached
        rows = np.flatnonzero(changed[:, case.channel])
        assert case.start <= rows[0] <= rows[-1] < case.stop
        assert changed[one.where, case.channel].mean() > 0.6
        for other in reached:
            assert np.flatnonzero(changed[:, other])[0] >= rows[0] + DELAY[0]


@pytest.mark.parametrize("kind", KINDS)
def test_normal_rows_come_before_and_after_unless_it_stays(kind: str) -> None:
    for one in drawn(kind):
        assert one.case.start >= BEFORE
        to_the_end = one.case.stop == TEST_ROWS
        assert to_the_end or one.case.stop <= TEST_ROWS - AFTER
        if kind != "drift":
            assert to_the_end == (kind == "level shift (permanent)")
    ends = {one.case.stop == TEST_ROWS for one in drawn("drift")}
    assert ends == {False, True}


@pytest.mark.parametrize(
    ("kind", "fewest", "most"),
    [
        ("spike", 1, 5),
        ("out of range", 20, 150),
        ("level shift (permanent)", *FOR_GOOD),
        ("drift", 200, 600),
        ("stuck", 60, 200),
        ("higher variance", 60, 300),
        ("lower variance", 100, 300),
        ("decoupled", 80, 300),
        ("missing", 20, 200),
    ],
)
def test_a_departure_lasts_as_long_as_its_kind_does(kind: str, fewest: int, most: int) -> None:
    lengths = [one.length for one in drawn(kind)]
    assert fewest <= min(lengths) < fewest + (most - fewest) / 3
    assert most - (most - fewest) / 3 < max(lengths) <= most


@pytest.mark.parametrize(
    ("kind", "natures"),
    [
        ("spike", {"rhythm", "wandering", "steady", "counts", "follower"}),
        ("drift", {"rhythm", "steady", "counts", "follower"}),
        ("stuck", {"rhythm", "wandering", "steady", "counts", "follower"}),
        ("higher variance", {"rhythm", "steady", "follower"}),
        ("lower variance", {"rhythm", "steady"}),
        ("unusual shape", {"rhythm"}),
        ("decoupled", {"follower"}),
        ("missing", {"rhythm", "wandering", "steady", "counts", "follower", "set points"}),
    ],
)
def test_a_kind_is_planted_where_its_name_fits(kind: str, natures: set[str]) -> None:
    assert {one.one.nature for one in drawn(kind)} == natures


def test_a_spike_stands_out_from_what_is_usual_and_goes_away_from_the_middle() -> None:
    for one in drawn("spike"):
        rounding = 0.5 if one.one.nature == "counts" else 1e-9 * np.abs(one.before).max()
        assert SPIKE[0] * one.one.usual - rounding <= np.abs(one.moved).max()
        assert np.abs(one.moved).max() <= SPIKE[1] * one.one.usual + rounding
        assert np.abs(one.moved).min() >= 0.7 * np.abs(one.moved).max() - 2 * rounding
        middle = one.case.train[:, one.case.channel].mean()
        up = one.one.nature == "counts" or one.before.mean() > middle
        assert ((one.moved > 0) == up).all()


def test_out_of_range_is_beyond_every_training_row() -> None:
    above = set()
    for one in drawn("out of range"):
        train = one.case.train[:, one.case.channel]
        low, high = train.min(), train.max()
        up = one.after.mean() > high
        beyond = (one.after - high if up else low - one.after) / (high - low)
        slack = 0.5 / (high - low) if one.one.nature == "counts" else 1e-6
        assert BEYOND[0] - slack <= beyond.min() <= BEYOND[1] + slack
        # it moves still
        assert len(np.unique(one.after)) > 5
        above.add((one.one.nature == "counts", bool(up)))
    assert above == {(False, False), (False, True), (True, True)}


def test_a_level_moves_once_and_by_much() -> None:
    for one in drawn("level shift (permanent)"):
        deviation = one.case.train[:, one.case.channel].std()
        least, most = STEP_OF_RHYTHM if one.one.nature == "rhythm" else STEP
        size = np.abs(one.moved) / deviation
        slack = 0.5 / deviation if one.one.nature == "counts" else 1e-6
        assert np.ptp(size) <= 1e-6
        assert least - slack <= size[0] <= most + slack


def test_a_drift_grows_row_by_row_and_stays_at_most_where_the_rows_end() -> None:
    for one in drawn("drift"):
        deviation = one.case.train[:, one.case.channel].std()
        size = np.sign(one.moved[-1]) * one.moved / deviation
        slack = 1 / deviation if one.one.nature == "counts" else 1e-6
        assert (np.diff(size) >= -slack).all()
        assert size[0] <= size[-1] / 150 + slack
        assert size[-1] >= (STEP_OF_RHYTHM if one.one.nature == "rhythm" else STEP)[0] - slack
        # a ramp: half the way is half the time, or a little sooner where it stays
        half = np.flatnonzero(size >= size[-1] / 2)[0] / one.length
        stays = one.case.stop == TEST_ROWS
        rounded = slack / size[-1]
        assert (0.36 if stays else 0.48) - rounded < half < 0.52 + rounded
        assert one.length >= DRIFTING * one.one.cycle - 1


def test_stuck_rows_are_equal_to_the_first_of_them() -> None:
    for one in drawn("stuck"):
        np.testing.assert_array_equal(one.after, np.full(one.length, one.before[0]))


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [("higher variance", *NOISIER), ("lower variance", 1 / CALMER[1], 1 / CALMER[0])],
)
def test_only_the_irregular_part_is_larger_or_smaller(kind: str, least: float, most: float) -> None:
    for one in drawn(kind):
        regular, irregular = one.part(one.one.regular), one.part(one.one.irregular)
        times = (one.after - regular) @ irregular / (irregular @ irregular)
        assert least <= times <= most
        np.testing.assert_allclose(one.after, regular + times * irregular, rtol=1e-9)


def test_a_broken_rhythm_is_late_twice_as_quick_or_without_a_beat() -> None:
    ways = set()
    for one in drawn("unusual shape"):
        cycle, regular = one.one.cycle, one.one.regular
        assert CYCLES[0] - 0.02 <= one.length / cycle <= CYCLES[1] + 0.02
        shown = one.after - one.part(one.one.irregular)
        at = ROWS + np.arange(one.case.start, one.case.stop)
        wave = np.arange(ROWS + TEST_ROWS)
        spread = regular.std()
        fits = {
            "still": np.full(one.length, regular[at[0]]),
            "quick": np.interp(at[0] + 2 * (at - at[0]) % cycle, wave, regular),
        }
        fits |= {
            f"late {late:.2f}": np.interp(at - late * cycle, wave, regular)
            for late in np.arange(0.3, 0.505, 0.01)
        }
        off = {way: np.abs(shown - fit).max() / spread for way, fit in fits.items()}
        best = min(off, key=off.__getitem__)
        assert off[best] < 0.1
        ways.add(best[:4])
        # in its usual range, and yet nowhere near what it should do
        assert regular.min() - 1e-6 * spread <= shown.min()
        assert shown.max() <= regular.max() + 1e-6 * spread
        assert np.abs(one.moved).max() > spread
    assert ways == {"late", "quic", "stil"}


def test_what_parts_keeps_its_range_and_leaves_the_one_it_followed() -> None:
    for one in drawn("decoupled"):
        regular = one.one.regular
        assert one.case.others == one.one.drivers
        assert len(one.case.others) == 1
        shown = one.after - one.part(one.one.irregular)
        slack = 1e-9 * np.abs(regular).max()
        assert regular.min() - slack <= shown.min()
        assert shown.max() <= regular.max() + slack
        assert np.abs(one.moved).mean() > 0.8 * regular.std()
        # no jump where it begins, nor where it ends
        assert np.abs(one.moved[[0, -1]]).max() < 0.1 * regular.std()
        # in between it is what the channel did at one time in training
        inner = shown[PARTING + 1 : -PARTING - 1]
        earlier = np.lib.stride_tricks.sliding_window_view(regular[:ROWS], len(inner))
        assert np.abs(earlier - inner).max(axis=1).min() <= slack


def test_missing_rows_are_nan_and_no_others() -> None:
    for one in drawn("missing"):
        assert np.isnan(one.after).all()
        assert np.isnan(one.case.test).sum() == one.length


def test_a_third_of_the_departures_reach_followers_later_and_weaker() -> None:
    spreading = [one for kind in KINDS if kind not in ALONE for one in drawn(kind)]
    reaching = [one for one in spreading if one.case.others]
    assert len(reaching) / len(spreading) == pytest.approx(1 / 3, abs=0.08)
    assert {len(one.case.others) for one in reaching} == set(range(1, MOST_REACHED + 1))
    for one in reaching:
        channel, plant = one.case.channel, one.plant
        own = [number for number, each in enumerate(plant) if channel in each.drivers]
        assert list(one.case.others) == sorted(set(one.case.others) - {channel})
        departed = (one.case.test - one.base)[:, channel] / one.one.usual
        for other in one.case.others:
            assert plant[other].nature == "follower"
            assert not own or other in own
            arrived = (one.case.test - one.base)[:, other] / plant[other].irregular.std()
            # the same course, some rows later: by how much is what fits best
            off = {}
            for late in range(DELAY[0], DELAY[1] + 1):
                sent = departed[:-late]
                share = sent @ arrived[late:] / (sent @ sent)
                off[late] = (np.abs(arrived[late:] - share * sent).max(), abs(share))
            error, share = min(off.values())
            assert error < 1e-6
            assert WEAKER[0] - 1e-9 <= share <= WEAKER[1] + 1e-9
    for kind in ("stuck", "lower variance", "missing"):
        assert {one.case.others for one in drawn(kind)} == {()}


def test_sizes_can_be_chosen_and_a_seed_gives_the_same_case() -> None:
    sizes = {"channels": 8, "rows": 500, "test_rows": 1200}
    for kind in KINDS:
        one, same = (departure_case(kind, np.random.default_rng(3), **sizes) for _ in range(2))
        assert one.train.shape == (500, 8)
        assert one.test.shape == (1200, 8)
        np.testing.assert_array_equal(one.test, same.test)
        assert one[2:] == same[2:]


def test_bad_arguments_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match=r"kind must be one of 'spike', .*; got 'wobble'"):
        departure_case("wobble", rng)
    with pytest.raises(InputError, match=r"rows must be .* at least 500 .*got 499"):
        departure_case("spike", rng, rows=499)
    with pytest.raises(InputError, match=r"test_rows must be .* at least 1200 .*got 1199"):
        departure_case("spike", rng, test_rows=1199)
    with pytest.raises(InputError, match=r"channels must be .* at least 8"):
        departure_case("spike", rng, channels=7)
