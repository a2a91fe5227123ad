"""The views of both methods of the default: one record each, with their words."""

from __future__ import annotations

from typing import NamedTuple

FORECAST, NOVELTY, FORM, ONLINE = "forecast", "novelty", "form", "online"
"""Kinds of records: views that forecast values, views that find what training lacks, further forms
in which the residuals of forecasting views are assessed, and views of what was learned online."""


class ViewFacts(NamedTuple):
    """One view, or one form of its residuals; each has a trace of this name.

    Parameters
    ----------
    name
        What users type, and the name of its trace.
    kind
        FORECAST, NOVELTY, FORM or ONLINE.
    sentence
        What it saw in an alarm, read after the name of the channel.
    panel
        What its trace measures, for the report.
    title
        The title of its panel, where the name says too little.
    weight
        Of a novelty view: how high its held-out scores may be, relative to those of all
        forecasting views. Of a form: its weight relative to a residual by itself.
    """

    name: str
    kind: str
    sentence: str
    panel: str
    title: str = ""
    weight: float = 1.0


# in the order in which traces are shown. Weights of novelty views: half and twice change the four
# development sets by up to three points (reproduce/log.md, "States and shapes"). Weights of forms:
# from half to twice of each changes little; a network alone ranks anomalies less well, and twice
# its weight costs up to 2.6 points (reproduce/log.md, "The default detector")
RECORDS = (
    ViewFacts(
        "level",
        FORECAST,
        "far from its normal level",
        "how far values lie from their mean in training",
    ),
    ViewFacts(
        "rhythm",
        FORECAST,
        "not what its rhythm predicts",
        "what neighbours near a value, but not next to it, do not explain",
    ),
    ViewFacts(
        "local rhythm",
        FORECAST,
        "not what its rhythm around the local level predicts",
        "the same, where the level may move",
    ),
    ViewFacts(
        "slow rhythm",
        FORECAST,
        "not what its slow rhythm predicts",
        "the same, from neighbours further away",
    ),
    ViewFacts(
        "state",
        NOVELTY,
        "part of a combination of values never seen in training",
        "how far a row is from the nearest training rows",
        weight=0.5,
    ),
    ViewFacts(
        "shape",
        NOVELTY,
        "of a shape never seen in training",
        "how far a window is from the nearest training windows",
    ),
    ViewFacts(
        "other channels",
        FORM,
        "not what the other channels predict",
        "what the other channels do not explain either",
        "against other channels",
        weight=0.5,
    ),
    ViewFacts(
        "all channels",
        FORM,
        "one of many channels a little off at once",
        "what is left over of all channels together",
        "all channels together",
    ),
    ViewFacts(
        "network",
        FORM,
        "not what the network predicts",
        "what a network that rebuilds windows does not explain",
        weight=0.5,
    ),
    ViewFacts(
        "near residual",
        ONLINE,
        "not what the rows just before predict",
        "what the rows just before do not explain",
    ),
    ViewFacts(
        "sub-adjacent residual",
        ONLINE,
        "not what rows a little before predict",
        "what rows five and more before do not explain, over the last 20 rows",
    ),
    ViewFacts(
        "short window",
        ONLINE,
        "of a short shape not seen lately",
        "how far the last 4 rows are from the most similar ones of the recent past",
    ),
    ViewFacts(
        "long window",
        ONLINE,
        "of a shape not seen lately",
        "how far the last 16 rows are from the most similar ones of the recent past",
    ),
    ViewFacts(
        "relation",
        ONLINE,
        "not what the other channels predicted lately",
        "what the other channels of the row do not explain",
        "against other channels, lately",
    ),
    ViewFacts(
        "stillness",
        ONLINE,
        "stiller than it was lately",
        "how little values moved over the last 30 rows",
    ),
)
FACTS = {facts.name: facts for facts in RECORDS}
VIEWS = tuple(facts.name for facts in RECORDS if facts.kind in (FORECAST, NOVELTY))
FORECASTING = tuple(facts.name for facts in RECORDS if facts.kind == FORECAST)
NOVELTIES = tuple(facts.name for facts in RECORDS if facts.kind == NOVELTY)
ACROSS_CHANNELS = ("state", "other channels", "all channels", "relation")
"""Views that say nothing of a file of one channel."""
