"""A value for each entity, and one for unseen entities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class PerEntity(Generic[T]):
    """A value for every entity seen in fitting; ``pooled`` serves all others.

    A series without a name uses ``pooled``.
    """

    pooled: T
    by_entity: Mapping[str, T]

    def of(self, entity: str | None) -> T:
        """The value of an entity, or the pooled one."""
        return self.pooled if entity is None else self.by_entity.get(entity, self.pooled)

    def map(self, function: Callable[[T], U]) -> PerEntity[U]:
        """A copy with a function applied to every value."""
        return PerEntity(
            function(self.pooled), {name: function(value) for name, value in self.by_entity.items()}
        )

    def __iter__(self) -> Iterator[T]:
        """The pooled value, then those of the entities, in order."""
        yield self.pooled
        yield from self.by_entity.values()
