"""The channels and entities that a fit saw, and whether other rows have the same."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from subadjacent.data.frames import Table
from subadjacent.errors import InputError
from subadjacent.showing import listed

log = logging.getLogger(__name__)

NAME_ENTITIES = "pass a dict of name → series"
"""The remedy for rows that do not say whose they are."""


def check_header(detector: Any, header: Any, *, reset: bool) -> None:
    """Record names and number of channels as scikit-learn does, or compare with the record."""
    names = _names_in(header)
    if reset:
        vars(detector).pop("feature_names_in_", None)
        detector.n_features_in_ = header.shape[1]
        if names is not None:
            detector.feature_names_in_ = np.asarray(names, dtype=object)
        return
    seen = getattr(detector, "feature_names_in_", None)
    expected = None if seen is None else list(seen)
    if header.shape[1] == detector.n_features_in_ and names == expected:
        return
    # scikit-learn's own warning or error
    from sklearn.utils.validation import validate_data

    try:
        validate_data(detector, header, reset=reset, skip_check_array=True)
    except ValueError as error:
        message = str(error)
        if message.startswith("X "):
            raise InputError.of("X", message.removeprefix("X ")) from error
        rule = "must have the channels seen in fitting, in their order"
        raise InputError.of("X", rule, message) from error


def _names_in(header: Any) -> list[str] | None:
    """Names of a frame's columns, if all are text."""
    if isinstance(header, np.ndarray):
        return None
    import narwhals as nw

    names = nw.from_native(header).columns
    return list(names) if all(isinstance(name, str) for name in names) else None


@dataclass(frozen=True, slots=True)
class SeenInput:
    """Channels and entities of the rows that were fitted on.

    Parameters
    ----------
    channels, entities
        Their names, in order; no entities for one series without a name.
    named_channels
        Whether the channels had names of their own.
    by_position
        Whether entities have no names of their own, only places in a list.
    """

    channels: tuple[str, ...]
    entities: tuple[str, ...]
    named_channels: bool
    by_position: bool

    @classmethod
    def of(cls, table: Table) -> SeenInput:
        """The channels and entities of rows to fit on."""
        names = [series.entity for series in table.series]
        return cls(
            table.series[0].channels,
            tuple(name for name in names if name is not None),
            named_channels=table.names is not None,
            by_position=table.by_position,
        )

    def to_dict(self) -> dict[str, Any]:
        """The channels and entities as JSON types."""
        return {
            "channels": list(self.channels),
            "named_series": self.named_channels,
            "entities": list(self.entities),
            "entities_by_position": self.by_position,
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> SeenInput:
        """The inverse of ``to_dict``."""
        return cls(
            tuple(facts["channels"]),
            tuple(facts["entities"]),
            named_channels=facts["named_series"],
            by_position=facts["entities_by_position"],
        )

    def check(self, table: Table) -> None:
        """Refuse rows of other channels, or without the entities' names."""
        self._check_names(table)
        self._check_entities(table)

    def warn_of_unseen_entities(self, entities: Iterable[str | None]) -> None:
        """Log which entities were not seen in fitting."""
        if warning := self.unseen_warning(entities):
            log.warning("%s", warning)

    def unseen_warning(self, entities: Iterable[str | None]) -> str:
        """A sentence on the entities that were not seen in fitting; empty without any."""
        if not (unseen := self.unseen(entities)):
            return ""
        return f"not seen in fitting, so assessed by the model of all entities: {listed(unseen)}"

    def unseen(self, entities: Iterable[str | None]) -> list[str]:
        """The named entities that were not seen in fitting, where entities had names there."""
        named = {entity for entity in entities if entity is not None}
        return sorted(named.difference(self.entities)) if self.entities else []

    def _check_names(self, table: Table) -> None:
        """Check channel names; those that are columns of a frame are checked by scikit-learn."""
        names = table.names
        if names is not None and self.named_channels and names != self.channels:
            raise InputError.of(
                "X",
                f"must have the channels seen in fitting, in their order: "
                f"{listed(list(self.channels))}",
                f"got {listed(list(names))}",
            )

    def _check_entities(self, table: Table) -> None:
        if len(self.entities) > 1 and table.series[0].entity is None:
            raise InputError.of(
                "X",
                f"must name its entity, for fit saw {len(self.entities)} and each has a scale "
                f"of its own",
                remedy=NAME_ENTITIES,
            )
        if not table.by_position or not self.entities:
            return
        if not self.by_position or len(table.series) != len(self.entities):
            raise InputError.of(
                "X",
                "must name its entities, for they cannot be matched by position",
                f"fit saw {len(self.entities)} entities, X has {len(table.series)}",
                NAME_ENTITIES,
            )
