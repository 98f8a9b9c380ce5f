"""Signals: noted first, obeyed at once when they come again or nothing moves."""

from __future__ import annotations

import os
import signal
import time

import pytest

from rilco.runs.interrupt import Interrupted, StopSignal, exit_code


def send(signum: int) -> None:
    os.kill(os.getpid(), signum)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_the_first_is_noted_and_the_second_obeyed(signum):
    with StopSignal() as stop:
        send(signum)
        assert stop.requested
        with pytest.raises(Interrupted) as caught:
            send(signum)
    assert exit_code(caught.value) == 128 + signum


def test_after_a_sigterm_what_hangs_is_not_waited_for():
    begun = time.monotonic()
    with StopSignal(patience=0.2):
        send(signal.SIGTERM)
        with pytest.raises(Interrupted) as caught:
            time.sleep(30)
    assert time.monotonic() - begun < 10
    assert caught.value.signum == signal.SIGTERM


def test_once_it_is_over_nothing_happens_any_more():
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)]
    with StopSignal(patience=0.2) as stop:
        send(signal.SIGTERM)
    time.sleep(0.4)
    assert stop.signum == signal.SIGTERM
    assert handlers == [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)]


def test_within_itself_only_the_outermost_listens():
    handler = signal.getsignal(signal.SIGTERM)
    with StopSignal() as stop:
        with stop:
            pass
        send(signal.SIGTERM)  # still listening
        assert stop.requested
    assert signal.getsignal(signal.SIGTERM) == handler
