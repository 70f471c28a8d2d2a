"""Units of rates, amounts and times, from texts such as `kbps`, `MB/s`, `bytes` or `ms`."""

from __future__ import annotations

import re
from typing import NamedTuple

RATE_UNITS = "bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s"
VOLUME_UNITS = "bit, kbit, Mbit, B, kB, MB, KiB, MiB"
TIME_UNITS = "ns, us, ms, s, min, h"


class RateUnit(NamedTuple):
    """Unit of a rate, or of an amount of data in a row."""

    #: Bits (per second) in one of the unit.
    bits: float
    name: str
    #: Whether it is an amount, which becomes a rate by the length of its row.
    is_volume: bool = False


class TimeUnit(NamedTuple):
    """Unit of a time."""

    nanos: int
    name: str


_SECOND = TimeUnit(1_000_000_000, "s")
_TIMES = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), _SECOND),
    **dict.fromkeys(
        ("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"), TimeUnit(1_000_000, "ms")
    ),
    **dict.fromkeys(
        ("us", "µs", "usec", "usecs", "micros", "microsecond", "microseconds"), TimeUnit(1_000, "us")
    ),
    **dict.fromkeys(("ns", "nsec", "nanos", "nanosecond", "nanoseconds"), TimeUnit(1, "ns")),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), TimeUnit(60_000_000_000, "min")),
    **dict.fromkeys(("h", "hour", "hours"), TimeUnit(3_600_000_000_000, "h")),
}
_PREFIXES = {
    "": (1, ""),
    **dict.fromkeys(("k", "K", "kilo", "Kilo"), (10**3, "k")),
    **dict.fromkeys(("M", "m", "mega", "Mega"), (10**6, "M")),
    **dict.fromkeys(("G", "g", "giga", "Giga"), (10**9, "G")),
    "Ki": (2**10, "Ki"),
    "Mi": (2**20, "Mi"),
    "Gi": (2**30, "Gi"),
}
_PER_SECOND = re.compile(r"(?:/|_?per_?)(?:s|sec|secs|second|seconds|S)$")
#: An amount: prefix, and bits or bytes. A small b is a bit, a capital B a byte.
_AMOUNT = re.compile(
    r"(?P<prefix>[A-Za-z]*?)(?:(?P<bits>[Bb]its?|b)|(?P<bytes>[Bb]ytes?|B|[Oo]ctets?))$"
)


def rate_unit(text: str) -> RateUnit | None:
    """Returns the unit of a rate or an amount that a text spells; `None` for another text.

    Capitals alone (`MBPS`) may mean bits or bytes, so they are no unit.
    """
    text = "".join(text.split())
    if len(text) > 3 and text.isalpha() and text.isupper():
        return None
    amount = _PER_SECOND.sub("", text)
    is_rate = amount != text
    if not is_rate and text.endswith("ps"):
        amount, is_rate = text[:-2], True
    match = _AMOUNT.fullmatch(amount)
    if match is None or match["prefix"] not in _PREFIXES:
        return None
    scale, prefix = _PREFIXES[match["prefix"]]
    if match["bits"]:
        if prefix.endswith("i"):
            return None
        # Rates of tc have no second: 20mbit. A plain b alone is a name as well.
        if not is_rate and amount == "b":
            return None
        return RateUnit(float(scale), f"{prefix}bit{'/s' if is_rate else ''}", not is_rate)
    return RateUnit(8.0 * scale, f"{prefix}B{'/s' if is_rate else ''}", not is_rate)


def time_unit(text: str) -> TimeUnit | None:
    """Returns the unit of a time that a text spells; `None` for another text."""
    return _TIMES.get(text.strip().lower())


#: Parts of a name: `throughput_kbps`, `DL bitrate [kbit/s]`, `rateMbps`, `bits_per_second`.
_BRACKETED = re.compile(r"[\[(<]([^\])>]*)[\])>]")
_SEPARATORS = re.compile(r"[\s_.:,;\-\[\]()<>#\\]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z]|[kMG]?[bB]ps)")
#: Names such as `Bytes Received/sec` of Windows' performance monitor.
_AMOUNT_PER_SECOND = re.compile(r"[A-Za-z ](?:/|[ _]per[ _])s(?:ec|ecs|econd|econds)?\W*$")
#: Names of amounts of a minute or longer, or of some seconds.
_PER_LONGER = re.compile(r"(?:/|[ _]per[ _]) ?(?:\d|min|h\b|hour|day)", re.IGNORECASE)
#: Names such as `PINGAVG` and `minrtt`, whose words nothing separates.
_FUSED_RTT = re.compile(
    r"\b(avg|mean|min|max)?(ping|rtt|latency)(avg|mean|min|max|time|ms|stdev|stddev|std|loss)?\b",
    re.IGNORECASE,
)
#: Names of sysstat (sar, sadf) and ifstat, whose kB have 1024 bytes.
_SYSSTAT = re.compile(r"[rt]xkB/s|KB/s (?:in|out)")


def parts_of(name: str) -> list[str]:
    """Returns the parts of a name that may be units: texts in brackets, words, `x_per_second`."""
    bracketed = _BRACKETED.findall(name)
    joined = re.findall(r"[A-Za-z]+[ _-]per[ _-][A-Za-z]+", name)
    # FCC's logs have bytes_sec, others MB_s.
    amounts = re.findall(
        r"([A-Za-z]*(?:bits?|bytes?)|(?<![A-Za-z])[kKMG]?i?[bB])_s(?:ec)?(?![A-Za-z])", name
    )
    joined += [f"{amount}/s" for amount in amounts]
    plain = [part for part in _SEPARATORS.split(_BRACKETED.sub(" ", name)) if part]
    camel = [part for each in plain for part in _CAMEL.split(each)]
    return [*bracketed, *(re.sub("[ -]", "_", each) for each in joined), *plain, *camel]


def words_of(name: str) -> list[str]:
    """Returns the words of a name in small letters, and the parts of words such as `DLThroughput`."""
    name = _FUSED_RTT.sub(lambda match: " ".join(filter(None, match.groups())), name)
    name = re.sub(r"\b([rt]x)(?=[kM]?B/s)", r"\1 ", name)
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word for word in re.split(r"[^\w%]+|_+", f"{name} {spaced}".lower()) if word]


def is_per_longer(name: str) -> bool:
    """Returns whether a column has amounts per minute or another time that is no second."""
    return _PER_LONGER.search(name) is not None


def rate_unit_in(name: str) -> RateUnit | None:
    """Returns the unit in the name of a column of rates; a rate comes before an amount."""
    if is_per_longer(name):
        return None
    if _SYSSTAT.fullmatch(name):
        return rate_unit("KiB/s")
    candidates = [
        unit for part in parts_of(name) if len(part) > 1 or part == "B" if (unit := rate_unit(part))
    ]
    if _AMOUNT_PER_SECOND.search(name):
        candidates = [
            unit._replace(name=f"{unit.name}/s", is_volume=False) if unit.is_volume else unit
            for unit in candidates
        ]
    rates = [unit for unit in candidates if not unit.is_volume]
    return next(iter(rates or candidates), None)


def time_unit_in(name: str) -> TimeUnit | None:
    """Returns the unit in the name of a column of times."""
    return next((unit for part in parts_of(name) if (unit := time_unit(part))), None)
