"""Label sets → series: one for each, or one for those that share labels, as its channels."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from hashlib import blake2b

from subadjacent.service.request_body import MAX_NAME_LENGTH
from subadjacent.service.watch.prometheus_api import Labels

METRIC = "__name__"
"""The label in which the server keeps the name of a metric."""

OURS = ("query", "channel", "metric")
"""Labels that we add; a series' own of the same name gets a prefix, as in a scrape."""

PLAIN = re.compile(r"[\w./:+-]+", re.ASCII)
ODD = re.compile(r"\W", re.ASCII)

SLASH = "\u2215"
"""Stands for "/" in the name of a series, which is a part of addresses."""


def place(labels: Labels, groupby: tuple[str, ...] | None, query: str) -> tuple[Labels, str]:
    """The series that a label set belongs to, and which of its channels it is.

    >>> place((("cpu", "0"), ("host", "a")), None, "busy")
    ((('cpu', '0'), ('host', 'a')), 'busy')
    >>> place((("cpu", "0"), ("host", "a")), ("host",), "busy")
    ((('host', 'a'),), 'cpu=0')
    """
    if groupby is None:
        return labels, query
    shared = tuple(pair for pair in labels if pair[0] in groupby)
    # the metric's name first: it says most
    rest = sorted((pair for pair in labels if pair[0] not in groupby), key=_metric_first)
    return shared, ",".join(_written(*pair) for pair in rest) or query


def group(
    found: Iterable[Labels], groupby: tuple[str, ...] | None, query: str
) -> dict[Labels, dict[str, Labels]]:
    """Series, and the label set of each of their channels, in the order of the channels' names."""
    series: dict[Labels, dict[str, Labels]] = {}
    for labels in found:
        key, channel = place(labels, groupby, query)
        series.setdefault(key, {}).setdefault(channel, labels)
    return {key: dict(sorted(series[key].items())) for key in sorted(series)}


def exposed(labels: Labels, query: str) -> dict[str, str]:
    """Labels of a series as they are shown: with the query's name, and the metric's as a label.

    >>> exposed((("__name__", "up"), ("job", "web"), ("query", "q")), "alive")
    {'query': 'alive', 'metric': 'up', 'job': 'web', 'exported_query': 'q'}
    """
    shown = {"query": query}
    for name, value in sorted(labels, key=_metric_first):
        # newer servers allow any character in a name, but not every reader of ours does
        safe = "metric" if name == METRIC else ODD.sub("_", name)
        while name != METRIC and (safe in shown or safe in OURS):
            safe = f"exported_{safe}"
        shown[safe] = value
    return shown


def describe(labels: Labels, query: str) -> str:
    """The name of a series: its query and its labels, as the registry allows names.

    >>> describe((("__name__", "up"), ("path", "/var")), "disk")
    'disk {up,path=\u2215var}'
    """
    written = ",".join(_written(*pair) for pair in sorted(labels, key=_metric_first))
    text = f"{query} {{{written}}}" if written else query
    name = " ".join(text.replace("/", SLASH).split())
    if not name.isprintable() or SLASH in text or len(name) > MAX_NAME_LENGTH:
        # series that look alike as shown differ by this
        digest = blake2b(text.encode(errors="surrogatepass"), digest_size=6).hexdigest()
        shown = "".join(letter if letter.isprintable() else "?" for letter in name)
        return f"{shown[: MAX_NAME_LENGTH - len(digest) - 2].strip()} #{digest}"
    return name


def _metric_first(pair: tuple[str, str]) -> tuple[bool, str]:
    return pair[0] != METRIC, pair[0]


def _written(name: str, value: str) -> str:
    # in quotes where it could be taken for several labels: two sets never read the same
    text = value if PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)
    return text if name == METRIC else f"{name}={text}"
