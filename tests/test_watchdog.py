"""The watchdogs end a hang, and counts of calls are the same every time."""

from __future__ import annotations

import re
import time

import pytest

from tests.watchdog import calls_of, cpu_watchdog, watchdog


def test_endless_waiting_is_ended():
    with pytest.raises(pytest.fail.Exception, match=r"still running after 0\.1 s"), watchdog(0.1):
        time.sleep(300)


def test_endless_computing_is_ended_even_inside_a_pattern():
    ended = pytest.raises(pytest.fail.Exception, match=r"still computing after 0\.1 s")
    with ended, cpu_watchdog(0.1):
        re.search("(a|aa)+$", "a" * 60 + "!")


def test_a_nested_watchdog_restores_the_outer_one():
    with pytest.raises(pytest.fail.Exception, match=r"after 0\.2 s"), watchdog(0.2):
        with watchdog():
            pass
        time.sleep(300)


def test_waiting_is_not_computing():
    with cpu_watchdog(0.1):
        time.sleep(0.3)


def test_calls_are_counted_including_those_of_c_functions():
    def one(number):
        return abs(number)

    def work(times):
        return lambda: [one(number) for number in range(times)]

    few, many = calls_of(work(100)), calls_of(work(200))
    assert many - few == 200  # 100 of `one` and 100 of `abs`
    assert calls_of(work(100)) == few
