"""Which entities stand out: p-values by hand, Benjamini and Hochberg, and simulated fleets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter

from subadjacent.decision import discoveries
from subadjacent.decision.discoveries import (
    BLOCK_ROWS,
    FOLDS,
    GUARD_BLOCKS,
    MAX_BLOCKS,
    Worst,
    benjamini_hochberg,
    p_values_of,
    tail_p_values,
    worst_of,
)
from subadjacent.errors import InputError

# ---- Benjamini and Hochberg


def test_the_lowest_p_values_are_kept_by_hand() -> None:
    # limits are 0.02, 0.04, 0.06, 0.08, 0.1: the third lowest is the last within its own
    assert benjamini_hochberg([0.9, 0.03, 0.001, 0.09, 0.06], 0.1).tolist() == [
        *(False, True, True, False, True)
    ]
    assert not benjamini_hochberg([0.03, 0.5], 0.05).any()


def kept_oracle(p_values: list[float], rate: float) -> list[bool]:
    """The definition read aloud: the largest k whose k-th lowest is at most k / m * rate."""
    m, ordered = len(p_values), sorted(p_values)
    largest = max([k for k in range(1, m + 1) if ordered[k - 1] <= rate * k / m], default=0)
    return [largest > 0 and p <= ordered[largest - 1] for p in p_values]


@given(st.lists(st.floats(0, 1), max_size=40), st.floats(0.01, 1))
def test_what_is_kept_is_by_the_definition(p_values: list[float], rate: float) -> None:
    assert benjamini_hochberg(p_values, rate).tolist() == kept_oracle(p_values, rate)


@pytest.mark.parametrize(
    ("p_values", "rate", "message"),
    [
        ([0.1], 0, "rate must be a finite number above 0 and of at most 1; got 0"),
        ([0.1], 1.5, "rate must be a finite number above 0 and of at most 1; got 1.5"),
        ([-0.1], 0.1, "p_values must be numbers from 0 to 1 in one dimension"),
        ([1.1], 0.1, "p_values must be numbers from 0 to 1 in one dimension"),
        ([float("nan")], 0.1, "p_values must be numbers from 0 to 1 in one dimension"),
        ([[0.1]], 0.1, "p_values must be numbers from 0 to 1 in one dimension"),
    ],
)
def test_what_is_no_p_value_or_rate_is_refused(p_values: Any, rate: float, message: str) -> None:
    with pytest.raises(InputError) as caught:
        benjamini_hochberg(p_values, rate)
    assert str(caught.value) == message


# ---- one p-value an entity


def blocks_oracle(normal: np.ndarray) -> list[float]:
    """Highest score of each block, in units of rows outside its fold and the blocks beside that."""
    count, found = len(normal) // BLOCK_ROWS, []
    for part in np.array_split(np.arange(count), min(FOLDS, count)):
        near = range(
            (part[0] - GUARD_BLOCKS) * BLOCK_ROWS, (part[-1] + 1 + GUARD_BLOCKS) * BLOCK_ROWS
        )
        others = np.array([score for row, score in enumerate(normal) if row not in near])
        if len(others) >= BLOCK_ROWS:
            for block in part:
                highest = normal[block * BLOCK_ROWS : (block + 1) * BLOCK_ROWS].max()
                found.append((highest - others.mean()) / others.std())
    return found


@pytest.mark.parametrize("rows", [75, 130, 10 * BLOCK_ROWS, 1017])
def test_an_entity_s_worst_rows_are_those_of_the_definition(rows: int) -> None:
    rng = np.random.default_rng(rows)
    normal, tested = 1e4 + rng.exponential(size=rows), rng.exponential(size=rows)
    found = worst_of(normal, tested)
    np.testing.assert_allclose(found.normal, blocks_oracle(normal), rtol=1e-6)
    assert found.score == pytest.approx((tested.max() - normal.mean()) / normal.std())
    assert found.blocks == -(-rows // BLOCK_ROWS)


def test_a_unit_has_not_seen_the_block_that_is_in_it_nor_its_neighbours() -> None:
    normal = np.random.default_rng(0).normal(size=20 * BLOCK_ROWS)
    before = worst_of(normal, normal).normal
    normal[7 * BLOCK_ROWS + 3] = 1000.0
    after = worst_of(normal, normal).normal
    # of ten folds of two blocks, that of 6 and 7, and that of 8 and 9, to which 7 is next
    np.testing.assert_allclose(after[[6, 8, 9]], before[[6, 8, 9]])
    assert after[7] > 900
    others = [*range(6), *range(10, 20)]
    assert (after[others] < before[others]).all()


def test_scale_and_level_of_an_entity_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    normal, tested = rng.exponential(size=300), rng.exponential(size=80)
    plain, moved = worst_of(normal, tested), worst_of(7 * normal - 3, 7 * tested - 3)
    assert plain.blocks == moved.blocks == 4
    assert moved.score == pytest.approx(plain.score)
    np.testing.assert_allclose(moved.normal, plain.normal)


@pytest.mark.parametrize("rows", [1, BLOCK_ROWS - 1, BLOCK_ROWS, 2 * BLOCK_ROWS])
def test_where_no_rows_are_away_from_a_block_none_is_compared_with(rows: int) -> None:
    found = worst_of(np.arange(rows, dtype=float), np.array([5.0]))
    assert len(found.normal) == 0
    assert np.isfinite(found.score)


def test_only_the_latest_blocks_count() -> None:
    normal = np.random.default_rng(0).normal(size=(MAX_BLOCKS + 10) * BLOCK_ROWS)
    assert len(worst_of(normal, normal).normal) == MAX_BLOCKS


def test_scores_that_never_change_have_a_unit() -> None:
    found = worst_of(np.full(100, 3.0), np.array([3.0]))
    assert (found.score, found.normal.tolist()) == (0.0, [0.0] * 4)


def test_p_values_of_entities_by_hand() -> None:
    normal = np.array([1.0, 2.0, 3.0, 4.0])
    fleet = [Worst(3.5, 1, normal), Worst(3.5, 2, normal + 4), Worst(9.0, 1, normal[:0])]
    # of eight blocks: five are at least 3.5, twice as likely in two blocks, and none is 9 or more
    assert p_values_of(fleet, extrapolate=False).tolist() == [6 / 9, 1.0, 1 / 9]
    # so few do not tell a tail
    assert p_values_of(fleet).tolist() == [6 / 9, 1.0, 1 / 9]


def test_nothing_tested_or_nothing_to_compare_with_is_no_discovery() -> None:
    normal = np.arange(5.0)
    assert p_values_of([Worst(-np.inf, 0, normal), Worst(9.0, 1, normal)]).tolist() == [1.0, 1 / 11]
    assert p_values_of([Worst(9.0, 1, normal[:0])]).tolist() == [1.0]
    assert p_values_of([Worst(-np.inf, 0, normal)]).tolist() == [1.0]
    assert p_values_of([]).tolist() == []


def test_a_tail_says_how_rare_a_score_is_by_hand() -> None:
    # the ten highest are e, all others 1: their logarithms, less that of 1, sum up to 10
    normal = np.array([1.0] * 90 + [np.e] * 10)
    k, n = 10, 100
    found = tail_p_values(normal, np.array([1.0, np.e, np.e**2, np.e**10]))
    expected = [1.0, 1.0, (k + 1) / (n + 1) * 1.2**-k, (k + 1) / (n + 1) * 2.0**-k]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    "normal",
    [np.arange(1.0, 20.0), np.arange(-200.0, 0.0), np.ones(200)],
    ids=["few", "negative", "equal"],
)
def test_without_a_tail_to_tell_p_values_are_ranks(normal: np.ndarray) -> None:
    assert tail_p_values(normal, np.array([1e6])).tolist() == [1.0]


@pytest.mark.parametrize("kind", ["Pareto", pytest.param("exponential", marks=pytest.mark.sweep)])
def test_a_tail_is_exact_where_it_is_pareto_and_too_high_where_it_is_lighter(kind: str) -> None:
    rng = np.random.default_rng(0)
    below = {0.001: 0, 0.0001: 0}
    runs, fresh, n = 400, 1000, 400
    for _ in range(runs):
        noise = rng.exponential(size=n + fresh)
        scores = np.exp(noise / 2) if kind == "Pareto" else noise
        fleet = [Worst(0.0, 1, scores[:n]), *(Worst(s, 1, scores[:0]) for s in scores[n:])]
        found = p_values_of(fleet)[1:]
        for asked in below:
            below[asked] += int((found <= asked).sum())
    for asked, count in below.items():
        share = count / (runs * fresh)
        # those of one run hang together: margins from the spread over runs at these sizes
        assert share <= 1.3 * asked
        if kind == "Pareto":
            assert share >= 0.7 * asked


# ---- simulated fleets

RATE, BAD = 0.1, 5


def fleet(kind: str, seed: int, entities: int, fitted: int, bad: int) -> list[Worst]:
    """Entities with units of their own; as many rows are tested as fitted on."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(entities, 2 * fitted + 100))
    if kind == "heavy tails":
        noise = rng.standard_t(3, size=noise.shape)
    scores = noise**2
    if kind == "means of 20 rows":
        scores = lfilter(np.ones(20) / 20, 1, scores)
    if kind == "remembering":
        scores = lfilter([1], [1, -0.9], noise) ** 2
    scores = scores[:, 100:] * np.exp(rng.normal(size=(entities, 1)))
    scores[:bad, fitted + 5 : fitted + 15] += 40 * scores[:bad, :fitted].std(axis=1, keepdims=True)
    return [worst_of(one[:fitted], one[fitted:]) for one in scores]


@pytest.mark.parametrize(
    "kind",
    [
        "remembering",
        *(
            pytest.param(kind, marks=pytest.mark.sweep)
            for kind in ("plain", "heavy tails", "means of 20 rows")
        ),
    ],
)
def test_false_discoveries_are_at_most_the_share_that_was_asked_for(kind: str) -> None:
    runs, false, right, null = 40, [], [], []
    for seed in range(runs):
        found = benjamini_hochberg(p_values_of(fleet(kind, seed, 40, 200, BAD)), RATE)
        false.append(found[BAD:].sum() / max(found.sum(), 1))
        right.append(found[:BAD].mean())
        p_values = p_values_of(fleet(kind, 1000 + seed, 40, 200, 0))
        null.append(p_values)
        # without any that stands out, every discovery is false
        false.append(float(benjamini_hochberg(p_values, RATE).any()))
    margin = 3 * np.sqrt(RATE * (1 - RATE) / runs)
    assert np.mean(false[::2]) <= RATE + margin
    assert np.mean(false[1::2]) <= RATE + margin
    # p-values of normal entities are super-uniform
    for alpha in (0.05, 0.2):
        assert (np.array(null) <= alpha).mean() <= alpha
    # 40 deviations are no news where tails are heavy
    assert np.mean(right) >= (0.9 if kind in ("means of 20 rows", "remembering", "plain") else 0)


def test_ranks_alone_find_few_entities_only_if_more_rows_are_fitted_on_than_tested() -> None:
    """What the page says of the rows that are needed: few against many."""
    worst = fleet("means of 20 rows", 0, 40, 400, BAD)
    assert not benjamini_hochberg(p_values_of(worst, extrapolate=False), RATE).any()
    shorter = [one._replace(blocks=1) for one in worst]
    assert benjamini_hochberg(p_values_of(shorter, extrapolate=False), RATE)[:BAD].all()


def test_units_that_had_seen_what_is_next_to_a_block_would_be_unsafe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Why there is a guard: without, normal entities that remember have too low p-values."""

    def share(seed: int) -> float:
        return float((p_values_of(fleet("means of 20 rows", seed, 40, 100, 0)) <= 0.05).mean())

    apart = np.mean([share(seed) for seed in range(40)])
    monkeypatch.setattr(discoveries, "GUARD_BLOCKS", 0)
    assert np.mean([share(seed) for seed in range(40)]) > 2 * apart
