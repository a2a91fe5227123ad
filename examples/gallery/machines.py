"""Three cases of machines: a pump, a cold store and a solar inverter."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
from examples.gallery.case import (
    Drawn,
    Planted,
    Values,
    clock,
    hours,
    hump,
    lagging,
    lines,
    row_at,
    wandering,
    weekend,
)


def pump(seed: int) -> Drawn:
    """Six weeks of a water pump, every ten minutes; decimal commas, a title and a row of units."""
    random = np.random.default_rng(seed)
    times = clock("2026-02-02T00:00", 6 * 7 * 144, timedelta(minutes=10))
    rows, hour = len(times), hours(times)
    late = np.where(weekend(times), 1.5, 0.0)  # people get up later on weekends
    demand = 0.6 * hump(hour - late, 7.5, 1.8) + hump(hour - late, 19.0, 2.5)
    flow = 62 + 38 * demand + 3.0 * wandering(random, rows, 0.8)
    air_in_suction = slice(row_at(times, "2026-03-03T02:10"), row_at(times, "2026-03-03T03:20"))
    flow[air_in_suction] *= random.uniform(0.72, 0.95, size=7)
    pressure = 6.4 - 1.4e-4 * flow**2 + 0.03 * random.normal(size=rows)
    current = 17 + 0.17 * flow + 0.4 * random.normal(size=rows)
    hall = 15 + 2 * hump(hour, 15, 4) + 2.0 * wandering(random, rows, 0.998)
    bearing = hall + lagging(14 + 0.45 * current, 0.15) + 0.3 * random.normal(size=rows)
    vibration = 1.1 + 0.007 * flow + 0.08 * random.gamma(2.0, size=rows)

    begins = row_at(times, "2026-03-06T00:00")
    wear = np.clip((np.arange(rows) - begins) / (rows - begins), 0, 1) ** 2
    vibration += wear * (2.4 + 0.5 * random.gamma(2.0, size=rows))
    bearing += lagging(16 * wear, 0.15)

    def number(value: float, digits: int) -> str:
        return f"{value:.{digits}f}".replace(".", ",")

    text = lines(
        ("Pumping station North;export;16.03.2026", "Time;Flow;Pressure;Current;Bearing;Vibration",
         ";m³/h;bar;A;°C;mm/s"),
        ([f"{when:%d.%m.%Y %H:%M}", number(q, 1), number(p, 2), number(i, 1), number(t, 1),
          number(v, 2)]
         for when, q, p, i, t, v in zip(
             times, flow, pressure, current, bearing, vibration, strict=True)),
        ";",
    )  # fmt: skip
    planted = (
        Planted.over("air in the suction pipe for an hour", air_in_suction),
        Planted("the bearing wears out: vibration and temperature grow until the end", begins,
                rows - 1),
    )  # fmt: skip
    return Drawn(text, planted, encoding="latin-1")


def cold_store(seed: int) -> Drawn:
    """Three weeks of a cold store, every five minutes, as its controller logs them."""
    random = np.random.default_rng(seed)
    times = clock("2026-09-07T00:00", 3 * 7 * 288, timedelta(minutes=5))
    rows, hour = len(times), hours(times)
    at_work = ~weekend(times) & (hour >= 6) & (hour < 16)
    door = np.where(at_work, random.random(rows) < 0.3, random.random(rows) < 0.004).astype(float)
    ajar = slice(row_at(times, "2026-09-23T01:35"), row_at(times, "2026-09-23T05:05"))
    door[ajar] = 1.3
    defrosts = np.isclose(hour % 8, np.clip(hour % 8, 2.0, 2.3))
    skipped = slice(row_at(times, "2026-09-20T02:00"), row_at(times, "2026-09-20T02:20"))
    defrosts[skipped] = False
    outside = 17 + 5 * hump(hour, 15, 4) + 3 * wandering(random, rows, 0.999)
    room, evaporator, power, humidity = _cooled(random, door, defrosts, outside)
    text = lines(
        ("timestamp,room_temp_C,evaporator_temp_C,compressor_kW,humidity_pct",),
        ([f"{when:%Y-%m-%dT%H:%M:%S}+02:00", f"{a:.1f}", f"{b:.1f}", f"{c:.2f}", f"{d:.0f}"]
         for when, a, b, c, d in zip(times, room, evaporator, power, humidity, strict=True)),
        ",",
    )  # fmt: skip
    planted = (
        Planted.over("one defrost is skipped", skipped),
        Planted.over("the door stays ajar at night, for three and a half hours", ajar),
    )  # fmt: skip
    return Drawn(text, planted)


def _cooled(
    random: np.random.Generator, door: Values, defrosts: Values, outside: Values
) -> tuple[Values, Values, Values, Values]:
    """Room, evaporator, power and humidity: a thermostat that switches at −19 and −22 °C."""
    rows = len(door)
    room, evaporator, power = np.empty(rows), np.empty(rows), np.empty(rows)
    air, coil, runs = -20.5, -28.0, True
    for row in range(rows):
        runs = air > -22 if runs else air > -19
        cools = runs and not defrosts[row]
        leak = 0.010 * (outside[row] - air) + 0.035 * door[row] * (outside[row] - air) * 0.3
        air += leak - (0.95 if cools else 0.0) + (0.15 if defrosts[row] else 0.0)
        coil += 0.5 * ((air - 9 if cools else 4 if defrosts[row] else air) - coil)
        room[row], evaporator[row] = air, coil
        power[row] = 4.2 + 0.05 * outside[row] if cools else 2.5 if defrosts[row] else 0.12
    noise = random.normal(size=(4, rows))
    moist = lagging(68 + 14 * np.minimum(door, 1) + 6 * defrosts, 0.12)
    return (
        room + 0.1 * noise[0],
        evaporator + 0.2 * noise[1],
        power * (1 + 0.02 * noise[2]),
        np.clip(moist + 1.0 * noise[3], 0, 100),
    )


def solar(seed: int) -> Drawn:
    """Eight weeks of a solar inverter, every quarter of an hour; American dates in two columns."""
    random = np.random.default_rng(seed)
    times = clock("2026-05-04T00:00", 8 * 7 * 96, timedelta(minutes=15))
    rows, hour = len(times), hours(times)
    sun = np.clip(np.sin(np.pi * (hour - 5.2) / 15.3), 0, None) * ((hour > 5.2) & (hour < 20.5))
    cloudy = 1 / (1 + np.exp(-1.5 * wandering(random, rows, 0.985)))  # 0 clear, 1 overcast
    passing = np.clip(1 + 0.6 * cloudy * wandering(random, rows, 0.5), 0.1, 1.25)
    light = 960 * sun**1.2 * (1 - 0.75 * cloudy) * passing
    air = 13 + 7 * hump(hour, 15, 4.5) - 3 * cloudy + 2.5 * wandering(random, rows, 0.998)
    module = air + 0.028 * lagging(light, 0.5) + 0.4 * random.normal(size=rows)
    power = np.clip(9.6 * light / 1000 * (1 - 0.004 * (module - 25)), 0, 8.0)
    volts = np.where(light > 15, 640 - 1.8 * (module - 25) + 3 * random.normal(size=rows), 0)

    string_off = slice(row_at(times, "2026-06-09T06:00"), row_at(times, "2026-06-12T14:00"))
    power[string_off] *= 2 / 3
    stuck = slice(row_at(times, "2026-06-20T10:45"), row_at(times, "2026-06-21T16:00"))
    light[stuck] = light[stuck.start]
    text = lines(
        ("Date,Time,Irradiance (W/m2),Module temp (C),DC voltage (V),AC power (kW)",),
        ([f"{when:%m/%d/%Y}", f"{when:%I:%M %p}".lstrip("0"), f"{g:.0f}", f"{m:.1f}", f"{u:.0f}",
          f"{p * (1 + 0.005 * e):.2f}"]
         for when, g, m, u, p, e in zip(
             times, light, module, volts, power, random.normal(size=rows), strict=True)),
        ",",
    )  # fmt: skip
    planted = (
        Planted.over("one of three strings delivers nothing for three days", string_off),
        Planted.over("the irradiance sensor is stuck for 29 hours", stuck),
    )  # fmt: skip
    return Drawn(text, planted)
