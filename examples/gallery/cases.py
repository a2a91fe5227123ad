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
Wear begins on 6 March and grows with the square of time, so that noise hides it at first. The
vibration shows it before the temperature does, which follows load and weather as well.

**A change that lasts 300 rows, here two days, counts as normal**: the alarm ends although the
bearing gets worse. For a machine that wears out, this default is wrong. Put `adapt_after = "never"`
into a file, and pass it with `--config`.""",
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
The failover raises an alarm on all four servers, the slow deploy one on its own server alone, which
names the slowest requests.

**The false alarms** lie around noon in the second week, when there was slightly more traffic than
in the only week of training. More training data would help. Severities separate the two groups:
those of the planted anomalies are far higher.""",
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
Irradiance and power stay within their ranges, but no longer agree. The second alarm is linked to
the first, because the same channels depart within 1,000 rows (ten days). The sensor is stuck from
the morning on, but raises an alarm only in the evening, when its value should have fallen.""",
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
The alarm begins within an hour after the door was left ajar, when the room is still frozen.
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
The *shape* view finds both: their values are within the range of other beats. A change counts as
normal after 300 rows, here 2.4 seconds, so that six seconds of changed beats may raise several
alarms, and the return to former beats one more.""",
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
Both are close to the threshold. The payment provider fails for three of 4,368 hours, and a bank
holiday looks much like a Sunday. The newsletters, bursts that recur every week, raise no alarm. By
default one false alarm is accepted in twice the training rows, here half a year; with a higher rate
(`--false-alarms 1/30days`) such anomalies are found more surely, among more false alarms.""",
)

CASES = (PUMP, SERVERS, SOLAR, COLD_STORE, HEARTBEAT, SHOP)
