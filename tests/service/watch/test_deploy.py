"""The rules and the dashboard that are shipped fit what is exposed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from service.watch.servers import DASHBOARD, RULES, dashboard_questions, needs_prometheus
from subadjacent.service.metrics import OF_CHANNELS, OF_POLLED_CHANNELS, OF_SERIES, Measures
from subadjacent.service.watch.exposition import PollerHealth

NAME = re.compile(r"\b(?:anomaly|subadjacent)_\w+")


def exposed() -> set[str]:
    """Every name that a scrape can hold."""
    registry = CollectorRegistry()
    PollerHealth(registry)
    names = {*OF_SERIES, *OF_CHANNELS, *OF_POLLED_CHANNELS, "subadjacent_queue_rows"}
    for family in (*registry.collect(), *Measures().registry.collect()):
        ends = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}
        names |= {family.name + end for end in ends.get(family.type, [""])}
    return names


def strings(document: Any) -> list[str]:
    """Every text in a document."""
    if isinstance(document, dict):
        document = list(document.values())
    if isinstance(document, list):
        return [text for part in document for text in strings(part)]
    return [document] if isinstance(document, str) else []


def test_every_metric_of_the_dashboard_is_one_that_we_expose() -> None:
    used = {name for question in dashboard_questions() for name in NAME.findall(question)}
    assert used <= exposed()
    # and it shows nearly all of them
    assert used >= {"anomaly_alarm", "anomaly_score", "anomaly_threshold", *OF_CHANNELS}
    assert used >= set(OF_POLLED_CHANNELS)


def test_every_metric_of_the_rules_is_one_that_we_expose() -> None:
    used = set(NAME.findall(RULES.read_text()))
    assert {"anomaly_alarm", "anomaly_watch_up", "subadjacent_queue_rows"} <= used <= exposed()


def test_the_dashboard_asks_whatever_server_is_chosen() -> None:
    variables = {one["name"]: one for one in DASHBOARD["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource"
    panels = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
    places = [panel["datasource"] for panel in panels]
    assert not any("datasource" in target for panel in panels for target in panel["targets"])
    places += [one["datasource"] for one in DASHBOARD["annotations"]["list"]]
    assert {place["uid"] for place in places} == {"${datasource}"}
    used = {name for text in strings(DASHBOARD) for name in re.findall(r"\$(\w+)", text)}
    assert used <= {*variables, "__rate_interval", "__all"}


TESTS = """
rule_files: [{rules}]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {{series: 'anomaly_alarm{{query="load",host="a"}}', values: '0 0 1 1 0'}}
      - {{series: 'anomaly_watch_up{{query="load"}}', values: '1 0x30'}}
      - {{series: 'anomaly_watch_last_row_timestamp_seconds{{query="load"}}', values: '0x30'}}
      - {{series: 'anomaly_watch_step_seconds{{query="load"}}', values: '60x30'}}
      - {{series: 'up{{job="subadjacent"}}', values: '1 1 0x30'}}
      - {{series: 'anomaly_alarm{{series="pump"}}', values: '0 0 0 1 0'}}
      - {{series: 'up{{job="subadjacent-serve",instance="s"}}', values: '1 0x30'}}
      - {{series: 'subadjacent_queue_rows{{instance="s"}}', values: '0 10001x30'}}
      - series: 'subadjacent_request_seconds_count{{instance="s",route="/api/x",status="5xx"}}'
        values: '0 60+60x30'
      - series: 'subadjacent_request_seconds_count{{instance="s",route="/api/y",status="2xx"}}'
        values: '0 60+60x30'
      - {{series: 'anomaly_watch_label_sets_refused{{query="load"}}', values: '0 7x90'}}
    alert_rule_test:
      - {{alertname: AnomalyAlarm, eval_time: 1m}}
      - alertname: AnomalyAlarm
        eval_time: 2m
        exp_alerts:
          - &load
            exp_labels: {{severity: warning, query: load, host: a}}
            exp_annotations:
              summary: load is unusual
              description: >-
                host=a query=load  has an open alarm. The dashboard shows the values beside what was
                expected.
      - alertname: AnomalyAlarm
        eval_time: 3m
        exp_alerts:
          - *load
          - exp_labels: {{severity: warning, series: pump}}
            exp_annotations:
              summary: pump is unusual
              description: >-
                series=pump  has an open alarm. The dashboard shows the values beside what was
                expected.
      - {{alertname: AnomalyAlarm, eval_time: 4m}}
      - {{alertname: AnomalyServiceDown, eval_time: 5m}}
      - alertname: AnomalyServiceDown
        eval_time: 6m
        exp_alerts:
          - exp_labels: {{severity: critical, job: subadjacent-serve, instance: s}}
            exp_annotations:
              summary: subadjacent serve cannot be scraped
              description: >-
                Rows that are pushed may not be taken. Is the process running, and is its address
                right?
      - {{alertname: AnomalyServiceQueue, eval_time: 1m}}
      - alertname: AnomalyServiceQueue
        eval_time: 2m
        exp_alerts:
          - exp_labels: {{severity: warning, instance: s}}
            exp_annotations:
              summary: subadjacent serve is behind by 10001 rows
              description: >-
                Past the limit of the queue rows are refused with 429. Fewer series, or several
                services behind a proxy.
      - {{alertname: AnomalyServiceFailing, eval_time: 5m}}
      - alertname: AnomalyServiceFailing
        eval_time: 10m
        exp_alerts:
          - exp_labels: {{severity: warning, instance: s, route: /api/x}}
            exp_annotations:
              summary: subadjacent serve answers requests with 5xx
              description: 1 a second to /api/x. Its log says why; 507 is a full disk.
      - {{alertname: AnomalyWatchTooManySeries, eval_time: 60m}}
      - alertname: AnomalyWatchTooManySeries
        eval_time: 62m
        exp_alerts:
          - exp_labels: {{severity: warning, query: load}}
            exp_annotations:
              summary: 7 label sets of load are not watched
              description: Narrow the query, or raise max_series.
      - {{alertname: AnomalyWatchFailing, eval_time: 10m}}
      - alertname: AnomalyWatchFailing
        eval_time: 11m
        exp_alerts:
          - exp_labels: {{severity: warning, query: load}}
            exp_annotations:
              summary: subadjacent watch gets no answer to load
              description: >-
                anomaly_watch_failures_total counts the reasons; the watcher's log says more.
      - {{alertname: AnomalyWatchBehind, eval_time: 10m}}
      - alertname: AnomalyWatchBehind
        eval_time: 11m
        exp_alerts:
          - exp_labels: {{severity: warning, query: load}}
            exp_annotations:
              summary: subadjacent watch is behind with load
              description: The latest row scored is 11m 0s old.
      - {{alertname: AnomalyWatchDown, eval_time: 6m}}
      - alertname: AnomalyWatchDown
        eval_time: 7m
        exp_alerts:
          - exp_labels: {{severity: critical, job: subadjacent}}
            exp_annotations:
              summary: subadjacent watch cannot be scraped
              description: >-
                Nobody looks for anomalies. Is the process running, and is its address right?
"""


def test_every_rule_is_tried() -> None:
    rules = set(re.findall(r"alert: (\w+)", RULES.read_text()))
    assert rules == set(re.findall(r"alertname: (\w+)", TESTS))


@needs_prometheus
def test_the_rules_are_right_and_fire_when_they_should(tmp_path: Path) -> None:
    (tmp_path / "tests.yml").write_text(TESTS.format(rules=RULES))
    for command in (["check", "rules", RULES], ["test", "rules", tmp_path / "tests.yml"]):
        done = subprocess.run(["promtool", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
