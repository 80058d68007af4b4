"""Is a program with main() measured on this computer, and an impossible request refused?"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.conftest import Command, uncore  # noqa: F401 (a fixture)
from tests.linux.programs import program as of_riscv

from uncore.host import pinned
from uncore.host import program as on_host
from uncore.program import build
from uncore.result import Point
from uncore.support import paths

pytestmark = pytest.mark.skipif(bool(pinned.missing()), reason=pinned.missing())

SOURCE = Path(__file__).with_name("marked.c")
ONE = pinned.processors()[:1]


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Links the program with the host's C library, which is already compiled; the `long` test
    below uses musl.
    """
    binary = tmp_path_factory.mktemp("marked") / "marked"
    arguments = [*build.HOST.compiler, *build.HOST.words, "-D_GNU_SOURCE", "-DUNCORE_COUNTED"]
    files = [
        f"-I{paths.WORKLOADS}/include",
        str(SOURCE),
        str(on_host.COUNTING_SOURCE),
        "-o",
        str(binary),
    ]
    subprocess.run([*arguments, *files], check=True, env=build._environment())
    return binary


def ran(binary: Path, *arguments: str) -> Point:
    fields: dict[str, Any] = on_host.run(binary, ONE, arguments)
    return msgspec.convert(fields, Point)


def test_operations_are_counted_by_thread_between_their_marks(marked: Path) -> None:
    point = ran(marked)
    assert point.failures == [] and point.ops == 2000 and point.thread_ops == [1000, 1000]
    assert 0 < point.elapsed_ps < 10**12 and isinstance(point.thread_ps, list)
    assert min(begin for begin, _ in point.thread_ps) == 0
    assert max(end for _, end in point.thread_ps) == point.elapsed_ps


def test_a_program_without_marks_is_one_operation(marked: Path) -> None:
    point = ran(marked, "status", "0")
    assert point.ops == 1 and point.elapsed_ps > 0


def test_host_program_may_use_one_processor_per_thread(marked: Path) -> None:
    assert ran(marked, "places").output == "1\n"


def test_exit_status_and_signal_are_reported_as_for_a_simulated_program(marked: Path) -> None:
    assert ran(marked, "status", "7").failures == ["exit status 7"]
    assert ran(marked, "abort").failures == ["exit status 134"]


def test_an_elf_for_riscv_is_refused(uncore: Command, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "calls").write_bytes(of_riscv().data)
    done = uncore("run", "--host", "calls")
    assert done.status == 2 and "an ELF for RISC-V, which this computer does not run" in done.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--strace", "mine.c"), "--strace"),
        (("--set", "ops=1", "mine.c"), "has no parameters"),
        (("lock/mcs", "--argument", "a"), "are for programs"),
        (("lock/mcs", "--os", "free"), "are for programs"),
    ],
    ids=["strace", "set", "words", "system"],
)
def test_options_that_a_host_program_lacks_are_refused(
    uncore: Command,  # noqa: F811
    tmp_path: Path,
    arguments: tuple[str, ...],
    says: str,
) -> None:
    (tmp_path / "mine.c").write_text("int main(void) { return 0; }\n")
    done = uncore("run", "--host", *arguments)
    assert done.status == 2 and says in done.err


@pytest.mark.long
def test_the_same_file_runs_on_a_simulated_machine_and_on_the_host(uncore: Command) -> None:  # noqa: F811
    """Both programs are linked with musl; compiling it for the first time takes minutes."""
    arguments = (str(SOURCE), "--cflags=-D_GNU_SOURCE", "--json")
    for where in (("--host",), ("ccx:1x2", "--repeat", "1")):
        done = uncore("run", *where, *arguments)
        assert done.status == 0 and '"ops": 2000' in done.out.replace('"ops":2000', '"ops": 2000')
