"""Signals: noted first, obeyed at once when they come again or nothing moves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rilco.runs.interrupt import Interrupted, StopSignal, exit_code


def send(signum: int) -> None:
    os.kill(os.getpid(), signum)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_the_first_is_noted_and_the_second_obeyed(signum: signal.Signals) -> None:
    with StopSignal() as stop:
        send(signum)
        assert stop.requested
        with pytest.raises(Interrupted) as caught:
            send(signum)
    assert exit_code(caught.value) == 128 + signum


def test_after_a_sigterm_what_hangs_is_not_waited_for() -> None:
    with StopSignal(patience=0.2):
        send(signal.SIGTERM)
        with pytest.raises(Interrupted) as caught:
            time.sleep(30)
    assert caught.value.signum == signal.SIGTERM


def test_once_it_is_over_nothing_happens_any_more() -> None:
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)]
    with StopSignal(patience=0.2) as stop:
        send(signal.SIGTERM)
    time.sleep(0.4)
    assert stop.signum == signal.SIGTERM
    assert handlers == [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)]


def test_within_itself_only_the_outermost_listens() -> None:
    handler = signal.getsignal(signal.SIGTERM)
    with StopSignal() as stop:
        with stop:
            pass
        send(signal.SIGTERM)  # still listening
        assert stop.requested
    assert signal.getsignal(signal.SIGTERM) == handler


def test_at_once_the_first_is_obeyed() -> None:
    with StopSignal() as stop:
        with pytest.raises(Interrupted), stop.at_once():
            send(signal.SIGTERM)
        with pytest.raises(Interrupted), stop.at_once():  # one that came before, too
            raise AssertionError("not reached")


def test_and_later_only_the_second_again() -> None:
    with StopSignal() as stop:
        with stop.at_once():
            pass
        send(signal.SIGINT)
        assert stop.requested


@pytest.mark.bullet
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "command",
    [
        "train --noise-rate 0.4 --task hopper --demo-kind gaussian",
        "sweep paper --only task=hopper --jobs 1",
    ],
)
def test_a_command_that_makes_standard_demonstrations_stops_at_the_first_signal(
    tmp_path: Path, command: str, signum: signal.Signals
) -> None:
    """As from a terminal: the signal comes once the command says what it is making."""
    environment = {**os.environ, "RILCO_CACHE": str(tmp_path / "cache")}
    start = "from rilco.cli import main; main()"
    arguments = [sys.executable, "-c", start, *command.split(), "--out", str(tmp_path / "out")]
    with subprocess.Popen(arguments, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "Making the standard demonstrations" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signum)
        said = process.stderr.read()
        assert process.wait(60) == 128 + signum
    assert "Stopped" in said
    assert not list((tmp_path / "cache").glob("*-*")), "it did not make them first"
