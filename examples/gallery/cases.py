"""The six cases, with what is said of each on its page."""

from __future__ import annotations

from examples.gallery.case import Case
from examples.gallery.machines import cold_store, pump, solar
from examples.gallery.signals import heartbeat, servers, shop

PUMP = Case(
    name="pump",
    title="A water pump whose bearing fails slowly",
    story="""\
A waterworks exports six weeks of data about a pump, a row every ten minutes. The flow follows the
town's demand: two peaks a day, later on weekends. Pressure and current follow the flow; the
bearing's temperature follows load and weather. The file has a title, a row of units,
semicolons, decimal commas and Latin-1 text.""",
    draw=pump,
    channels=("Vibration", "Bearing", "Flow"),
    remark="""\
Wear begins on 6 March and grows with the square of time. The alarm begins on the evening of the
7th, because of the vibration. The temperature is not named, since the weather moves it as well.
**The air in the suction pipe is missed**: its severity is 0.9, just below an alarm. Two alarms of
severity 1.0 and 1.1 are false.

**A change that lasts 300 rows, here two days, counts as normal**: the alarm says "permanent" and
ends on the 10th although the bearing gets worse; the next alarm comes on the 15th. For a machine
that wears out, this default is wrong. Put `adapt_after = "never"` into a file, and pass it with
`--config`; the alarm then lasts to the end.""",
)

SERVERS = Case(
    name="servers",
    title="Four web servers: a deploy and a failover",
    story="""\
The file has two weeks of metrics of four servers behind one load balancer, a row every ten minutes:
requests, latencies (median and 99th percentile), errors and processor load. All servers are in one
file, one after the other. Times are seconds since 1970, shown in UTC. `--entity` says which
column names the server; each server gets its own model.""",
    draw=servers,
    channels=("p99_ms", "requests_per_s"),
    remark="""\
The alarm of the slow deploy begins 100 minutes after it, names the right channel, and ends shortly
before the deploy is rolled back. The failover is found on all four servers from its first row on,
but the alarms last more than four hours longer than the failover.

**Five alarms are false.** They lie around noon in the second week, when there was slightly more
traffic than in the only week of training. More training data would help; a budget
(`--false-alarms 1/week`) is estimated from the same week and does not. The severities separate the
two groups: at least 7 for the planted anomalies, at most 2.7 for the false alarms.""",
    options=("--entity", "instance"),
    entity="web-3",
)

SOLAR = Case(
    name="solar",
    title="A solar inverter: a lost string and a stuck sensor",
    story="""\
The file has eight weeks of a small solar plant, a row every quarter of an hour, as its portal
exports them: date and time in two columns, in American format. The irradiance sensor is separate
from the modules, so irradiance and power should agree.""",
    draw=solar,
    channels=("Irradiance (W/m2)", "AC power (kW)"),
    remark="""\
Both faults are found from the relation between irradiance and power, although neither leaves its
range. Each has an alarm; the second is linked to the first, because the same channels depart
within 1,000 rows (ten days). The sensor is stuck from the morning on, but is an alarm only from the
evening on, when it should have fallen.

The expected range reaches below zero at night, because its width is learned from deviations at all
times of the day.""",
)

COLD_STORE = Case(
    name="cold-store",
    title="A cold store whose door stays open",
    story="""\
The file has three weeks of a cold store, a row every five minutes, as its controller logs them,
with the UTC offset of summer time. A thermostat switches the compressor between -22 and -19 °C, the
coil is defrosted every eight hours, and on weekdays people go in and out from six to four. The door
has no sensor.""",
    draw=cold_store,
    channels=("room_temp_C", "humidity_pct"),
    remark="""\
The alarm begins 40 minutes after the door was left ajar, when the room is still frozen.
Times are in UTC, two hours behind the clock of the store.

**The skipped defrost is missed.** No value leaves its range, and the irregular cycle of the
thermostat hides the rest. If you must detect such an event, write a rule for it.""",
)

HEARTBEAT = Case(
    name="heartbeat",
    title="A heartbeat that changes its shape",
    story="""\
The file has eighty seconds of a signal like an electrocardiogram, 125 values per second. Breathing
changes the speed and the baseline of the waves. The file is separated by tabs and has comments
above its header; `--time` names the column of seconds. The signal is generated and not suited for
any diagnosis.""",
    draw=heartbeat,
    channels=("lead_II_mV",),
    remark="""\
Both are found by the *shape* view: no value of the changed beats is out of range. The changed beats
have two alarms: the first beat is one of a single row, and 300 rows (2.4 seconds) after the second
begins they count as normal, so that it ends in their middle and says "permanent". The expected
range in the sentences (-0.1 to 0.6 mV) is of little help here: the beat is too irregular for a
comparison with the same time of the last cycles, so the level before is used instead.""",
    options=("--time", "time_s"),
    suffix=".tsv",
)

SHOP = Case(
    name="shop",
    title="A web shop without payments",
    story="""\
The file has half a year of a web shop, a row every hour: visitors, orders, revenue, checkouts
started. There are daily and weekly cycles, Sundays are busiest, and a newsletter goes out every
Thursday morning. Numbers have commas for thousands, and dates have names of months.""",
    draw=shop,
    channels=("Orders", "Visitors"),
    remark="""\
**Both are missed, barely.** The payment provider fails for three of 4,368 hours, with a severity of
0.9; the bank holiday reaches 0.99. The newsletters, bursts that recur every week, raise no alarm
either. By default one false alarm is accepted in three times the training rows, here nine months;
`--false-alarms 1/30days` finds the failure in its very hours and the holiday from ten hours before
it, and raises three more alarms.""",
)

CASES = (PUMP, SERVERS, SOLAR, COLD_STORE, HEARTBEAT, SHOP)
