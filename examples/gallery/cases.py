"""The six cases, with what is said of each on its page."""

from __future__ import annotations

from examples.gallery.case import Case
from examples.gallery.machines import cold_store, pump, solar
from examples.gallery.signals import heartbeat, servers, shop

PUMP = Case(
    name="pump",
    title="A water pump whose bearing fails slowly",
    story="""\
A waterworks exports six weeks of a pump from its control system, a row every ten minutes. Flow
follows the town: two peaks a day, later on weekends. Pressure and current follow the flow, the
bearing's temperature follows load and weather. The file has a title, a row of units,
semicolons, decimal commas and Latin-1 text.""",
    draw=pump,
    channels=("Vibration", "Bearing", "Flow"),
    remark="""\
Wear begins on 6 March, and grows with the square of time; the alarm begins on the 8th, a week
before the end of the file, by vibration. The temperature, which the weather moves as well, is
no cause of its own.

The severity falls back on the 9th although the bearing gets worse. **What lasts 300 rows, here
two days, counts as the new normal**: the alarm says "changed for good" and is not repeated. For
a machine that wears out that is the wrong default. Put `adapt_after = "never"` into a file, and
pass it with `--config`: the alarm then lasts to the end.""",
)

SERVERS = Case(
    name="servers",
    title="Four web servers: a deploy and a failover",
    story="""\
Two weeks of four servers behind one load balancer, a row every ten minutes: requests,
latencies (median and 99th percentile), errors and processor, as an export of metrics has them,
one server below the other. Times are seconds since 1970, shown in UTC. `--entity` says which
column names the server; each gets a model of its own.""",
    draw=servers,
    channels=("p99_ms", "requests_per_s"),
    remark="""\
The alarm of the slow deploy begins within a row of it, names its channel, and ends when it is
rolled back; nothing else of web-3 hinted at it. The failover is found on all four servers. It
lasted half an hour, its alarms three and a half: scores are averages over up to 60 rows, and
what is so loud is heard in the rows beside it.

**Four alarms are false, one a server.** They lie around noon in the second week, on all servers
at once, when a little more came in than in the only week that was fitted on. A budget
(`--false-alarms 1/week`) does not help: it counts by what the first week did. What helps is
more of what is normal to learn from. Severities tell them apart: 12 and more for what was
planted, 2.4 at most for these.

A first draft of this case had eight days, a row every five minutes, and came out better: the
same five of five found, one false alarm of six. It had no weekend to learn from, and the deploy
was on a Saturday, which nobody does; two weeks are what people have.""",
    options=("--entity", "instance"),
    entity="web-3",
)

SOLAR = Case(
    name="solar",
    title="A solar inverter: a lost string and a stuck sensor",
    story="""\
Eight weeks of a small solar plant, a row every quarter of an hour, as its portal exports them:
date and time in two columns, the American way. Clouds come and go; nights are dark. The
irradiance sensor is apart from the modules, so that light and power should agree.""",
    draw=solar,
    channels=("Irradiance (W/m2)", "AC power (kW)"),
    remark="""\
Both faults are found, by what light and power say of each other: neither leaves its usual
range. **They are told as one alarm**, though, since events of the same channels within 1,000
rows (here ten days) count as the same thing again; the sentence is about the worse of them. In
Python, `detector.alarms(rows, again=100)` keeps them apart. The stuck sensor is an alarm from
the afternoon on, when it ought to have fallen, though it had stood still since the morning.

The band below zero at night is no mistake of the picture: what is usual is learned from
departures at all times of the day.""",
)

COLD_STORE = Case(
    name="cold-store",
    title="A cold store whose door stays open",
    story="""\
Three weeks of a cold store, a row every five minutes, as its controller logs them, with the
offset of summer time. A thermostat switches the compressor between -22 and -19 °C, the coil is
defrosted every eight hours, and on weekdays people go in and out from six to four. There is no
contact on the door.""",
    draw=cold_store,
    channels=("room_temp_C", "humidity_pct"),
    remark="""\
The alarm begins twenty minutes after the door was left ajar, when the room is still frozen.
Times are in UTC, two hours behind the clock of the store.

**The skipped defrost is missed.** Nothing leaves its range when a quarter of an hour of
defrosting does not take place, and the thermostat's own cycle, which is never twice the same,
hides the rest. Who must know of it should watch for it by a rule.""",
)

HEARTBEAT = Case(
    name="heartbeat",
    title="A heartbeat that changes its shape",
    story="""\
Eighty seconds of a signal like that of a heart, 125 values a second: waves that breathing
speeds up, slows down and lifts. The file is separated by tabs and has comments above its
header; `--time` names the column of seconds. Generated, and nothing to diagnose anybody with.""",
    draw=heartbeat,
    channels=("lead_II_mV",),
    remark="""\
Both are found by the view of *shapes*, windows unlike any in training: no value of the changed
beats is out of range. The second alarm counts eight beats, one by one, and nothing else. What
is said to be usual (-0.1 to 0.6 mV) is of little help here: the beat is not regular enough for
"the same time of the last cycles", and the level before is all that is left to compare with.""",
    options=("--time", "time_s"),
    suffix=".tsv",
)

SHOP = Case(
    name="shop",
    title="A web shop without payments",
    story="""\
Half a year of a web shop, a row every hour, from a report: visitors, orders, revenue, checkouts
started. Days and weeks have their rhythm, Sundays are best, and a newsletter goes out every
Thursday morning. Numbers have commas for thousands, dates have the names of months.""",
    draw=shop,
    channels=("Orders", "Visitors"),
    remark="""\
The payment provider fails for three hours of 4,368, and the first of them is an alarm: few
orders, at a time with many. The newsletters, bursts that come every week, are none. A bank
holiday is found too, though only the hours up to one in the night of it: **the alarm begins on
the Sunday before**, which is unusual in being followed by a Monday like it. Scores look ahead.

Both severities are close to 1. A first draft of this case had twelve weeks. Six to learn from
were too few, as the command said by itself, and busy Sundays raised false alarms; nobody who
sells things has only twelve weeks.""",
)

CASES = (PUMP, SERVERS, SOLAR, COLD_STORE, HEARTBEAT, SHOP)
