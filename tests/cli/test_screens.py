"""Is the output of commands readable on terminals of 80, 100 and 140 columns?

The commands of README.md and docs/cli.md run in a pseudo terminal, each in all widths by the same
process, so that points are simulated only once.  No line may be wider than the terminal or end in
blanks.  Every word and number must also appear in the output of `--wide`, so none is cut or broken.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from uncore.cli.commands import COMMANDS as COMMANDS_OF_UNCORE
from uncore.support import plugins
from uncore.support.paths import CHECKOUT

WIDTHS = (80, 100, 140)
UNTESTED_COMMANDS = {  # they print no table, or the table of another command
    *(
        "sweep",
        "demo",
        "export",
        "measure",
        "calibrate",
        "trace",
        "watch",
        "explore",
        "boot",
        "new",
    ),
}
# These commands print how long they took, which differs between widths.
COMMANDS_WITH_RUN_TIMES = ("check", "crosscheck")
# Printed instead of a speed if a run is too short for the clock.
NO_SPEED = "-"
SMALL_RUN = "--threads 1,2,4 --set ops=20 --cores 1"
COMMANDS = f"""
list
lesson
engines
show epyc7601x2
show epyc7601x2 --keys
show epyc7601x2 --links
show lock/ticket
run ccx:4x8 lock/ticket --threads 1,2..32 --set ops=10 --cores 1
run ccx:2x4 bus:8 lock/ticket lock/qspinlock {SMALL_RUN} --set hold=0,1us --place compact,scatter
run ccx:2x4 lock/mcs {SMALL_RUN} --output r.json
lines r.json
scaling r.json
compare ccx:2x4 lock/ticket lock/mcs {SMALL_RUN}
conflicts lock/ticket --set ops=5
whatif bus:4 lock/ticket --threads 4 --set ops=20 --repeat 2 --cores 1
litmus MP --rounds 1
fences lock/tas bus:8 --threads 2 --seeds 1 --at-once --cores 1
claims free-local --cores 1
matrix ccx:4x4
matrix epyc7601x2 --sample 4
check ./vi
diff-engines bus:2 lock/tas --threads 2 --set ops=2
crosscheck bus:2 lock/tas --engines native,reference --threads 2 --set ops=2
validate r2700x --cores 1
validate epyc7601x2 --only blind
predict r2700x
validate ccx:2x2 --trace ipis.txt
ktr trace.txt
willitscale x6130x2 rates.txt
"""
RATES = "open1 process 1 200000\nopen1 process 4 600000\n"
IPIS = """
a-1 [000] 1.000001: ipi_send_cpu: cpu=2 callsite=f callback=0x0
b-2 [002] 1.000002: reschedule_entry: vector=253
b-2 [002] 1.000005: reschedule_entry: vector=253
"""
TRACE = "652\t1\t1.040 uS\tPING\n794\t0\t1.171 uS\tPONG\n"
MEMOISING_MAIN = """
import fcntl, os, struct, sys, termios
from uncore import engine
from uncore.cli import app as cli

found, run = {}, engine.run

def run_once(job, *rest, **more):
    key = (repr(job.document()), repr(rest[:1]))
    if key not in found:
        found[key] = run(job, *rest, **more)
    return dict(found[key])

engine.run = run_once
for line in sys.stdin.read().split("\\n"):
    for width in (80, 100, 140, 2000):
        size = struct.pack("HHHH", 50, min(width, 999), 0, 0)
        fcntl.ioctl(1, termios.TIOCSWINSZ, size)
        print(f"@@ {width} {line}", flush=True)
        try:
            cli.main([*line.split(), *(["--wide"] if width == 2000 else [])])
        except SystemExit as status:
            print(f"@@ status {status.code} of {line}", flush=True)
"""
STYLE = re.compile(r"\x1b\[[0-9;]*m")
RULER = re.compile(r"─+")


@pytest.fixture(scope="module")
def screens(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, list[str]]]:
    """Returns the lines that each command prints in each width."""
    folder = tmp_path_factory.mktemp("screens")
    (folder / "ipis.txt").write_text(IPIS)
    (folder / "trace.txt").write_text(TRACE)
    (folder / "rates.txt").write_text(RATES)
    assert CHECKOUT
    shutil.copytree(CHECKOUT / "tests/support/protocols/vi", folder / "vi")
    printed: dict[str, dict[int, list[str]]] = {}
    for line in _printed(COMMANDS.strip(), folder).split("@@ ")[1:]:
        head, _, text = line.partition("\n")
        width, _, command = head.partition(" ")
        if width == "status":
            assert command.startswith(("0 ", "1 ", "None ")), f"ended with {command}"
            continue
        printed.setdefault(command, {})[int(width)] = STYLE.sub("", text).split("\n")[:-1]
    return printed


def _printed(commands: str, folder: Path) -> str:
    leader, follower = pty.openpty()
    attributes = termios.tcgetattr(follower)
    attributes[1] &= ~termios.OPOST  # keeps line ends as they are written
    termios.tcsetattr(follower, termios.TCSANOW, attributes)
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-c", MEMOISING_MAIN],
        stdin=subprocess.PIPE,
        stdout=follower,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=environment | {"TERM": "xterm"},
    )
    os.close(follower)
    with process:
        assert process.stdin
        process.stdin.write(commands.encode())
        process.stdin.close()
        parts = []
        while part := _read(leader):
            parts.append(part)
    os.close(leader)
    return b"".join(parts).decode()


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 1 << 16)
    except OSError:  # raised when the child has closed its end
        return b""


def words(lines: list[str]) -> set[str]:
    return {word for line in lines for word in RULER.sub(" ", line).split()}


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal(screens, width: int) -> None:
    too_wide = {
        (command, line)
        for command, by_width in screens.items()
        for line in by_width[width]
        if len(line) > width
    }
    assert too_wide == set()


@pytest.mark.parametrize("width", [*WIDTHS, 2000])
def test_no_line_ends_in_blanks(screens, width: int) -> None:
    assert {
        (command, line)
        for command, by_width in screens.items()
        for line in by_width[width]
        if line != line.rstrip()
    } == set()


@pytest.mark.parametrize("width", WIDTHS)
def test_no_word_or_number_is_cut(screens, width: int) -> None:
    for command, by_width in screens.items():
        notes = {"not", "shown:", "(--wide)"} | {f"{word}," for word in words(by_width[2000])}
        broken = words(by_width[width]) - words(by_width[2000]) - notes
        if command.startswith(COMMANDS_WITH_RUN_TIMES):
            broken = {word for word in broken - {"speed", NO_SPEED} if not word[0].isdecimal()}
        assert broken == set(), command


def test_every_command_that_prints_tables_is_tested() -> None:
    tested = {line.partition(" ")[0] for line in COMMANDS.strip().split("\n")}
    assert {*COMMANDS_OF_UNCORE, *plugins.commands()} - tested <= UNTESTED_COMMANDS


def test_every_command_printed_something(screens) -> None:
    assert [command for command, by_width in screens.items() if len(words(by_width[80])) < 5] == []
    assert len(screens) == len(COMMANDS.strip().split("\n"))
