r"""The grammar of an alarm's sentence: what is claimed, of which channel, with which numbers.

A sentence is one or more claims, then other channels that departed too. ``NAME`` is a channel of
the file, ``N`` a number, ``D`` a duration (``1 h 15 min``, ``40 minutes``, ``50 rows``):

    sentence    := claim (JOIN claim)* ["; " names " as well"] ["."]
    JOIN        := ", then " | ", and then " | "; then " | "; " | ", and " | " and "
    claim       := [NAME " "] DID TIMING? RATIO? COMPARED? TIMING?   (no NAME: that of the last)
    DID         := ["stayed within its expected range, but "] VIEW
                 | "returned from " N " to its former level of " N
                 | MOVED ["from " N] " to " N  |  MOVED " by " N  |  STATE ": " N  |  STATE
                 | "was missing" | FLAT " at " N | CAME_BACK [" to " N | " to its former level: " N]
                 | "had an unusual shape: it departed N times as far as normal"
                 | "had higher|lower variance than expected: its steps were N times the normal size"
                 | "varied by N, expected N" | "decoupled from " NAME [": " N]
    TIMING      := " for|within|over|in|after " D | " at|until|since|from|on " TIME | " permanently"
    RATIO       := ", [about] N times|twice|half|a third|... [of] the" | ", N % above|below the"
    COMPARED    := [","] " expected|usual(ly)|normal(ly) " N [" to " N] [BASIS]
                 | ", expected at most " N [" from row to row"]
    BASIS       := " at|for this time [of day|week|the cycle]" | " given " NAME | " before"
    names       := NAME | NAME " and " NAME | NAME ", " NAME ... " and " COUNT " more"

The words are in the tables below: a new word is a line there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

MOVE, RANGE, PERMANENT, DRIFT, SHAPE, DECOUPLED = (
    "move",
    "range",
    "permanent",
    "drift",
    "shape",
    "decoupled",
)
FLAT, MISSING, HIGHER, LOWER, RETURN, VIEW = "flat", "missing", "higher", "lower", "return", "view"

UP = (
    "jumped", "rose", "climbed", "spiked", "surged", "increased", "peaked", "jumped up",
    "stepped up", "went up", "shot up", "moved up", "shifted up", "drifted up", "crept up",
    "ramped up",
)  # fmt: skip
DOWN = (
    "fell", "dropped", "dipped", "sank", "crashed", "decreased", "declined", "jumped down",
    "stepped down", "went down", "moved down", "shifted down", "drifted down", "crept down",
    "ramped down", "slid",
)  # fmt: skip
# verbs that say that a move was gradual, and those that say that it was sudden
GRADUAL = ("drifted", "crept", "ramped", "climbed", "slid", "declined", "sank")
SUDDEN = ("jumped", "spiked", "dropped", "crashed", "stepped", "shot", "surged", "dipped", "peaked")
# of no direction
STATES = {
    "went out of range": RANGE,
    "was out of range": RANGE,
    "shifted its level permanently": PERMANENT,
    "shifted its level": MOVE,
    "drifted away": DRIFT,
    "drifted": DRIFT,
    "had an unusual shape": SHAPE,
    "had another shape": SHAPE,
    "broke its cycle": SHAPE,
    "lost its cycle": SHAPE,
    "moved": MOVE,
    "was unusual": VIEW,
}
FLATS = ("flatlined", "stayed", "was stuck", "stuck", "was flat", "froze", "stood")
BACK = ("came back", "returned", "recovered", "went back")

RATIOS = {
    "twice": 2.0, "double": 2.0, "three times": 3.0, "four times": 4.0, "five times": 5.0,
    "half": 0.5, "a third": 1 / 3, "a quarter": 0.25, "a fifth": 0.2, "a tenth": 0.1,
    "ten times": 10.0, "two thirds": 2 / 3, "three quarters": 0.75,
}  # fmt: skip
SECONDS = {
    "d": 86_400.0, "day": 86_400.0, "days": 86_400.0, "h": 3600.0, "hour": 3600.0, "hours": 3600.0,
    "min": 60.0, "minute": 60.0, "minutes": 60.0, "s": 1.0, "second": 1.0, "seconds": 1.0,
    "ms": 1e-3, "week": 604_800.0, "weeks": 604_800.0,
}  # fmt: skip
COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}

_N = r"[-\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[+-]?\d+)?"
_UNIT = "|".join(sorted(SECONDS, key=len, reverse=True))
_D = rf"(?:(?:{_N}) (?:{_UNIT})\b ?)+|(?:{_N}|one) (?:rows?|values?|samples?)\b"
_TIME = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?|row [\d,]+"


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written."""

    text: str

    @property
    def value(self) -> float:
        return float(self.text.replace(",", "").replace("\u2212", "-"))

    @property
    def decimals(self) -> int:
        mantissa, _, power = self.text.partition("e")
        return len(mantissa.partition(".")[2]) - int(power or 0)

    @property
    def step(self) -> float:
        """The place it seems rounded to; at least two digits are taken for exact."""
        mantissa, _, power = self.text.lstrip("-\u2212").partition("e")
        if "." in mantissa or power:
            return float(10.0**-self.decimals)
        digits = mantissa.replace(",", "")
        zeros = len(digits) - len(digits.rstrip("0"))
        return float(10.0 ** max(0, min(zeros, len(digits) - 2)))

    @property
    def coarse_step(self) -> float:
        """The place that a bound seems rounded to: every zero at its end may be one."""
        if "." in self.text or "e" in self.text or self.value == 0:
            return self.step
        digits = self.text.replace(",", "")
        return float(10.0 ** (len(digits) - len(digits.rstrip("0"))))

    def is_rounded(self, value: float, *, coarse: bool = False) -> bool:
        """Whether this is the value, rounded."""
        step = self.coarse_step if coarse else self.step
        return abs(value - self.value) <= 0.5 * step * (1 + 1e-6) + 1e-6 * abs(value)


@dataclass(frozen=True, slots=True)
class Claim:
    """What one clause says of one channel."""

    channel: str
    kind: str
    words: str
    direction: int = 0
    value: Number | None = None
    before: Number | None = None
    by: Number | None = None
    low: Number | None = None
    high: Number | None = None
    at_this_time: bool = False
    partner: str | None = None
    lasted: str | None = None
    within: str | None = None
    permanent: bool = False
    ratio: float | None = None
    size: Number | None = None
    max_step: Number | None = None
    times: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """The claims of a sentence, and the other channels that it names or counts."""

    claims: tuple[Claim, ...]
    others: tuple[str, ...] = ()
    more: int = 0


class UnknownWordsError(ValueError):
    """The grammar does not know a part of a sentence."""


def shown(channel: str) -> str:
    """The name of a channel, as a sentence writes it."""
    return " ".join(channel.split())


def parse(sentence: str, channels: Sequence[str]) -> Sentence:
    """Parse a sentence about channels of these names; raises UnknownWordsError."""
    return _Parser(sentence.strip().removesuffix("."), channels).sentence()


def seconds_of(duration: str) -> tuple[float, float] | None:
    """A duration in seconds, and the last unit that it names; None for one in rows."""
    parts = re.findall(rf"({_N}) ({_UNIT})\b", duration)
    if not parts:
        return None
    total = sum(Number(count).value * SECONDS[unit] for count, unit in parts)
    count, unit = parts[-1]
    return total, SECONDS[unit] * 10.0 ** -max(0, Number(count).decimals)


def rows_of(duration: str) -> int | None:
    """A duration in rows; None for one in units of time."""
    match = re.fullmatch(rf"({_N}|one) (?:rows?|values?|samples?)", duration.strip())
    if match is None:
        return None
    return 1 if match[1] == "one" else int(Number(match[1]).value)


@dataclass(slots=True)
class _Parser:
    text: str
    channels: Sequence[str]
    at: int = 0
    _names: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        named = {shown(channel): channel for channel in self.channels}
        self._names = dict(sorted(named.items(), key=lambda item: -len(item[0])))

    def sentence(self) -> Sentence:
        claims = [self._claim(None)]
        others: tuple[str, ...] = ()
        more = 0
        while self.at < len(self.text):
            listed = self._others()
            if listed is not None:
                others, more = listed
                break
            if not self._take(r", and then |, then |; then |; |, and |, but | and | but |, "):
                raise self._unknown()
            claims.append(self._claim(claims[-1].channel))
        if self.at < len(self.text):
            raise self._unknown()
        return Sentence(tuple(_shared_range(claims)), others, more)

    def _claim(self, last_channel: str | None) -> Claim:
        name = self._name()
        if name is not None:
            if not self._take(" "):
                raise self._unknown()
        elif last_channel is None:
            # the model told no channel
            name = ""
            if not self._take(r"(?=was )|(?=unlike|one of|part of|of a|not what|far|stiller)"):
                raise self._unknown()
        else:
            name = last_channel
            self._take("it ")
        claim = self._did(name)
        while True:
            extended = self._extension(claim)
            if extended is None:
                return claim
            claim = extended

    def _did(self, channel: str) -> Claim:
        start = self.at
        if self._take("was missing"):
            return Claim(channel, MISSING, "was missing")
        if match := self._take(rf"({_any(FLATS)}) at ({_N})"):
            return Claim(channel, FLAT, match[1], value=Number(match[2]))
        if match := self._take(
            r"had (higher|lower) variance than expected(?:: its steps were "
            rf"(?:over )?({_N}) times the normal size)?"
        ):
            steps = None if match[2] is None else Number(match[2])
            return Claim(channel, HIGHER if match[1] == "higher" else LOWER, match[0], size=steps)
        if match := self._take(r"varied (more|less)(?: than (?:expected|usual|normal))?"):
            return Claim(channel, HIGHER if match[1] == "more" else LOWER, match[0])
        if self._take("decoupled from "):
            partner = self._name()
            if partner is None:
                raise self._unknown()
            value = self._take(rf": ({_N})")
            return Claim(
                channel, DECOUPLED, "decoupled", value=value and Number(value[1]), partner=partner
            )
        if match := self._take(rf"(returned) from ({_N}) to its former level of ({_N})"):
            return Claim(channel, RETURN, match[1], value=Number(match[3]), before=Number(match[2]))
        if match := self._take(
            rf"({_any(BACK)})(?: to (?:({_N})|normal|its expected range|its former level: ({_N})))?"
        ):
            back = match[2] or match[3]
            return Claim(channel, RETURN, match[1], value=back and Number(back))
        if match := self._take(
            rf"(had an unusual shape): it departed ({_N}) times as far as normal"
        ):
            return Claim(channel, SHAPE, match[1], size=Number(match[2]))
        directions = {**dict.fromkeys(UP, 1), **dict.fromkeys(DOWN, -1)}
        if match := self._take(
            rf"({_any(directions)})( permanently)?(?: from ({_N}))?(?: to ({_N})| by ({_N}))?(?!\w)"
        ):
            kind = DRIFT if match[1].split()[0] in ("drifted", "crept", "ramped") else MOVE
            before, value, by = (one and Number(one) for one in match.group(3, 4, 5))
            return Claim(
                channel,
                kind,
                match[1],
                directions[match[1]],
                value,
                before=before,
                by=by,
                permanent=match[2] is not None,
            )
        if match := self._take(rf"({_any(STATES)})(?: to ({_N})|(?:: ({_N})))?(?!\w)"):
            value = match[2] or match[3]
            return Claim(
                channel,
                STATES[match[1]],
                match[1],
                value=value and Number(value),
                permanent=STATES[match[1]] == PERMANENT,
            )
        # what a view saw: nothing that rows could show
        if match := self._take(
            r"((?:stayed within its expected range, but )?"
            rf"(?:was )?(?:unlike|one of|part of|of a|not what|far|stiller)[^:;]*)(?:: ({_N}))?"
        ):
            return Claim(channel, VIEW, match[1], value=match[2] and Number(match[2]))
        self.at = start
        raise self._unknown()

    def _extension(self, claim: Claim) -> Claim | None:
        if match := self._take(rf" for ({_D})"):
            return replace(claim, lasted=match[1].strip(), words=claim.words)
        if match := self._take(rf",? (?:within|over|in|after) ({_D})"):
            return replace(claim, within=match[1].strip())
        if self._take(r",? (?:permanently|for good)(?!\w)"):
            return replace(claim, permanent=True)
        if match := self._take(rf",? (?:at|until|since|from|on) ({_TIME})"):
            return replace(claim, times=(*claim.times, match[1]))
        if match := self._take(
            r", (?:about |almost |nearly |over |more than |less than )?"
            rf"(?:({_any(RATIOS)})|({_N}) times)(?: of)?(?: the)?(?= )"
        ):
            return replace(claim, ratio=RATIOS[match[1]] if match[1] else Number(match[2]).value)
        if match := self._take(rf", expected at most ({_N})(?: from row to row)?"):
            return replace(claim, max_step=Number(match[1]))
        if match := self._take(
            rf",? (?:expected|usually|usual|normally|normal)(?: range)? ({_N})(?: to ({_N}))?"
        ):
            low = Number(match[1])
            claim = replace(claim, low=low, high=Number(match[2]) if match[2] else low)
            if self._take(
                r" (?:at|for) (?:this|that) time(?: of (?:the )?(?:day|week|year|cycle))?"
            ):
                return replace(claim, at_this_time=True)
            if self._take(" given "):
                partner = self._name()
                if partner is None:
                    raise self._unknown()
                return replace(claim, partner=partner)
            self._take(" before")
            return claim
        return None

    def _others(self) -> tuple[tuple[str, ...], int] | None:
        """``; A, B and 5 more as well`` at the end of a sentence."""
        start = self.at
        if not self.text.endswith(" as well") and not re.search(r" more$", self.text):
            return None
        if not self._take(r"; |, with |; with |; also "):
            return None
        names: list[str] = []
        more = 0
        while True:
            name = self._name()
            if name is not None:
                names.append(name)
            elif match := self._take(rf"({_N}|{_any(COUNTS)}) (?:more|others?)(?: channels?)?"):
                more = COUNTS.get(match[1]) or int(Number(match[1]).value)
            else:
                break
            if not self._take(", | and "):
                break
        if self._take("(?: as well)?$") and (names or more):
            return tuple(names), more
        self.at = start
        return None

    def _name(self) -> str | None:
        for name, channel in self._names.items():
            end = self.at + len(name)
            if (
                name
                and self.text.startswith(name, self.at)
                and not self.text[end : end + 1].isalnum()
            ):
                self.at = end
                return channel
        return None

    def _take(self, pattern: str) -> re.Match[str] | None:
        match = re.compile(pattern).match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return match

    def _unknown(self) -> UnknownWordsError:
        return UnknownWordsError(f"cannot read {self.text[self.at :]!r} in {self.text!r}")


def _shared_range(claims: list[Claim]) -> list[Claim]:
    """Claims before the one that tells the expected range, with that range.

    Unless it is one of a time: that of another time is another one.
    """
    told = claims[-1]
    if told.low is None or told.at_this_time:
        return claims
    return [
        replace(claim, low=told.low, high=told.high)
        if claim.channel == told.channel and claim.low is None and claim.value is not None
        else claim
        for claim in claims
    ]


def _any(words: object) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))  # type: ignore[call-overload]
