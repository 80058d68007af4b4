"""Does a guest that fails end its run with one message that says which hart failed, where and why?

The message names hart, pc, symbol, file and line. The run never hangs or shows a traceback.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.support.line import line
from tests.support.runs import PROGRAMS, guest, point

from uncore.cli import app as cli
from uncore.engine import native, reference
from uncore.errors import GuestError
from uncore.execution.request import make_job
from uncore.program.abi import CONSTANTS

MILLISECOND = 10**9  # simulated ps
LINES = (PROGRAMS / "bad.c").read_text().splitlines()


def line_of(function: str) -> int:
    """Returns the number of the first line of a function's body."""
    head = f"static void {function}(void) {{"
    number = next(n for n, text in enumerate(LINES, 1) if text.startswith(head))
    return number if LINES[number - 1].endswith("}") else number + 1


def message(fault: str, machine: str = "ccx", threads: int = 3) -> str:
    """Runs programs/bad.c with a fault. Returns the message with which the run fails."""
    with pytest.raises(GuestError) as error:
        point(machine, guest("bad"), threads, watchdog=MILLISECOND, what=fault)
    return str(error.value)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("illegal", "illegal instruction"),
        ("outside", "store or atomic access fault"),
        ("device", "load access fault"),
        ("misaligned", "store or atomic address misaligned"),
    ],
)
def test_report_of_a_trap_names_its_hart_symbol_and_line(fault: str, reason: str) -> None:
    location = rf"at 0x8000[0-9a-f]{{4}} {fault}(\+0x[0-9a-f]+)? \(bad\.c:{line_of(fault)}\)"
    assert re.search(rf"hart 2: {reason} {location}", message(fault))


@pytest.mark.parametrize("engine", [native, reference])
def test_reports_of_simultaneous_traps_are_not_mixed(engine: Any) -> None:
    """All harts trap at the same time, and each writes its report to memory word by word."""
    job = make_job("ring:3", guest("bad"), [3], parameters={"what": "everybody"})
    with pytest.raises(
        GuestError, match=r"hart \d: store or atomic access fault at 0x8000\w+ uc_main"
    ):
        engine.run(job, frozenset())


def test_jump_to_unmapped_memory_reports_its_target() -> None:
    assert "hart 2: instruction access fault at 0x1000 no symbol" in message("astray")


def test_stack_overflow_is_reported_before_it_overwrites_another_stack() -> None:
    first, second, *_ = message("recurse").splitlines()
    assert "hart 2: stack overflow, of 15488 bytes" in first
    assert re.search(r"hart 2 stopped at 0x[0-9a-f]+ depth \(bad\.c:\d+\)", second)


@pytest.mark.parametrize("engine", [native, reference])
@pytest.mark.parametrize(
    "frame",
    ["fixed_17k", "fixed_64k", "fixed_256k", "fixed_1m", "nested", "alloca", "vla", "aligned"],
)
def test_stack_overflow_is_detected_for_frames_of_any_size(engine: Any, frame: str) -> None:
    """Tries fixed, nested, variable and aligned frames. The message names the function."""
    name = {"nested": "inner", "alloca": "alloca_"}.get(frame, frame)
    text = overflow_message(engine, what=frame)
    assert re.search(rf"hart 0 stopped at 0x[0-9a-f]+ {name}(\+\w+)? \(frames\.c:\d+\)", text)


def test_frame_that_fits_the_stack_is_not_reported_as_overflow() -> None:
    assert not point("bus:2", guest("frames"), 2, what="vla", bytes=15 << 10)["failures"]


def test_frame_larger_than_a_hart_stack_overflows_a_thread_stack() -> None:
    """The engine does not know the end of a thread's own stack."""
    assert "fixed_256k" in overflow_message(native, what="thread")


def overflow_message(engine: Any, **parameters: Any) -> str:
    """Runs programs/frames.c, whose stack must overflow. Returns the message."""
    job = make_job("bus:2", guest("frames"), [1], parameters=parameters)
    with pytest.raises(GuestError, match="hart 0: stack overflow, of 15488 bytes") as error:
        engine.run(job, frozenset())
    return str(error.value)


def test_a_hart_that_trapped_without_a_handler_is_named_first() -> None:
    first, second, *_ = message("unhandled", threads=31).splitlines()
    assert "hart 30 trapped without a handler" in first
    assert re.search(rf"hart 30 stopped at .* unhandled.*\(bad\.c:{line_of('illegal')}\)", second)


@pytest.mark.parametrize(
    "limits",
    [{"lookahead": 1}, {}, {"host": native.HostUse(3, 2, eager=True)}],
    ids=["slowly", "ahead", "at once"],
)
def test_earliest_end_in_simulated_time_ends_the_run(limits: dict[str, Any]) -> None:
    """T4: the order in which the engine executes harts does not matter."""
    with pytest.raises(GuestError, match="hart 2 trapped without a handler"):
        point(line(), guest("bad"), 3, limits, what="race")


def test_a_run_ends_when_every_hart_waits() -> None:
    """The run ends at once, because no pending event could wake a hart."""
    text = message("deadlock")
    assert "every hart waits" in text
    assert re.search(r"hart 2 spinning at 0x[0-9a-f]+ deadlock", text)


@pytest.mark.parametrize(
    ("fault", "mode"),
    [("atomic", "(running|waiting)"), ("compute", "running"), ("clock", "running")],
)
@pytest.mark.parametrize(("machine", "threads"), [("ccx", 3), ("tr1950x", 2), ("bus", 1)])
def test_the_watchdog_ends_a_run_without_operations(
    fault: str, mode: str, machine: str, threads: int
) -> None:
    """Tries a contended atomic, a loop that only computes, and a loop that reads the clock, each
    with one hart and with several.
    """
    text = message(fault, machine, threads)
    assert "no operation in 1 simulated ms" in text
    assert re.search(rf"hart {threads - 1} {mode} at 0x[0-9a-f]+ ({fault}|uc_now)", text)


def test_negative_delay_does_not_turn_the_clock_back() -> None:
    """A negative delay counts as a very long one, so the watchdog ends the run."""
    assert "no operation in 1 simulated ms" in message("delay")


def test_watchdog_reports_which_hart_waits_for_which_line() -> None:
    text = message("atomic")
    hot = re.search(r"waits for line (0x[0-9a-f]+), which its core holds in state IM", text)
    assert hot
    assert re.search(rf"resolver \d+: line {hot[1]} waits for \d+ answers", text)


@pytest.mark.parametrize("engine", [native, reference])
def test_watchdog_does_not_end_a_run_with_operations(engine: Any) -> None:
    parameters = {"ops": "500", "think": "1us"}
    job = make_job("bus", "counter/atomic", [1], parameters=parameters, watchdog=3 * 10**8)
    assert engine.run(job, frozenset())["ops"] == 500


@pytest.mark.parametrize("engine", [native, reference])
def test_watchdog_reports_failing_scs_and_their_line(engine: Any) -> None:
    """C6.2: two LR/SC loops whose bodies are too long take the line from each other for ever."""
    job = make_job("bus", guest("bad"), [2], parameters={"what": "livelock"}, watchdog=10**8)
    with pytest.raises(GuestError) as error:
        engine.run(job, frozenset())
    text = str(error.value)
    assert "no operation in 0.1 simulated ms" in text
    all_, hot = (int(times) for times in re.findall(r"(\d+) SCs failed", text))
    assert all_ == hot > 100
    assert re.search(rf"\n  {hot} SCs failed on the line of 0x[0-9a-f]+, shared", text)
    assert "waits for line" not in text and " answers, " not in text


def test_watchdog_reports_no_scs_if_none_has_failed() -> None:
    assert "SC" not in message("atomic") + message("compute")


def test_a_failed_check_fails_the_run() -> None:
    number = next(n for n, text in enumerate(LINES, 1) if "asked to fail" in text)
    failures = point("ccx", guest("bad"), 3, what="check")["failures"]
    assert failures == [f"bad.c:{number}: asked to fail"]


@pytest.mark.parametrize("fault", ["device", "deadlock", "check"])
def test_the_command_ends_with_status_1_and_no_traceback(
    fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", "ccx", str(PROGRAMS / "bad.c"), "--threads", "2", "--set", f"what={fault}"]
    with pytest.raises(SystemExit) as exit_:
        cli.main(arguments)
    printed = capsys.readouterr()
    assert exit_.value.code == 1
    assert "Traceback" not in printed.err
    assert re.search(rf"bad\.c:\d+|hart 1 .*{fault}", printed.out + printed.err)


@pytest.mark.parametrize("engine", [native, reference])
@pytest.mark.parametrize("call", ["UC_SYS_EXIT", "UC_SYS_EXIT_EXTENDED"])
def test_run_ends_with_the_status_passed_to_either_exit_call(call: str, engine: Any) -> None:
    job = make_job("ring:3", guest("exit"), [3], parameters={"call": str(CONSTANTS[call])})
    with pytest.raises(GuestError, match="ended with status 7"):
        engine.run(job, frozenset())
