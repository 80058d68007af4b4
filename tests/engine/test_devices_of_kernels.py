"""Do the devices of a kernel work: interrupt files, messages to them, the UART (P7) and typed
input?
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from tests.engine.test_kernels import EXECUTION_MODES, WORDS, boot, run

from uncore import _native
from uncore import boot as system
from uncore.boot import archive
from uncore.boot.device_tree import APLIC, INTERRUPT_FILES, cpu_map
from uncore.job.placement import place
from uncore.topology import load

MAGIC = b"070701"
NEEDS_ARENA = pytest.mark.skipif(
    _native.Arena.make() is None, reason="sanitizers keep their own memory"
)

# Sets up an interrupt file that accepts identities 1 and 2. The UART sends identity 2.
ACCEPT_INTERRUPTS = """
    la t0, taken
    csrw stvec, t0
    li t0, 0x200
    csrw sie, t0
    li t0, 0x70
    csrw 0x150, t0
    csrwi 0x151, 1
    li t0, 0xC0
    csrw 0x150, t0
    csrwi 0x151, 6
    csrsi sstatus, 2
"""
HANDLER = """
.balign 4
taken:
    csrr s7, 0xDB0
    csrrw s8, 0x15C, x0
    srli s8, s8, 16
    addi s9, s9, 1
    li t5, 1
    beq s8, t5, 1f
    li t5, 0x10000000
    lbu s10, 2(t5)
    lbu s11, (t5)
1:  sret
"""
# Hart 0 starts hart 1 and sleeps; hart 1 stores to hart 0's page.
IPI = f"""
{ACCEPT_INTERRUPTS}
    li a0, 1
    la a1, other
    li a2, 0
    call 0x48534D, 0
1:  wfi
    beqz s9, 1b
    addi s8, s8, -1
    off 0
other:
    li t0, {INTERRUPT_FILES:#x}
    li t1, 1
    fence rw, rw
    sw t1, (t0)
1:  wfi
    j 1b
{HANDLER}
"""
IDENTITIES = (9, 3, 5)
# Hart 0 stores identities to its own interrupt file, and records which one it claims at each
# threshold.
CLAIMS_BY_THRESHOLD = f"""
    .macro file register, value
    li t0, \\register
    csrw 0x150, t0
    li t0, \\value
    csrw 0x151, t0
    .endm
    file 0xC0, -2
    li t0, {INTERRUPT_FILES:#x}
    .irp identity, {", ".join(map(str, IDENTITIES))}
    li t1, \\identity
    sw t1, (t0)
    .endr
    li t0, 0x80
    csrw 0x150, t0
    li t2, {sum(1 << identity for identity in IDENTITIES)}
1:  csrr t1, 0x151
    bne t1, t2, 1b
    li t3, WORDS
    .irp threshold, 0, 3, 4
    file 0x72, \\threshold
    csrr t1, 0x15C
    sd t1, (t3)
    addi t3, t3, 8
    .endr
    off 0
"""
# Hart TARGET takes the UART's interrupts and prints the typed characters.
ECHO = f"""
    li a0, 1
    la a1, other
    li a2, 0
    call 0x48534D, 0
begin:
{ACCEPT_INTERRUPTS}
    bnez s4, 3f
    li t0, {APLIC:#x}
    li t1, 0x100
    sw t1, (t0)
    li t1, 6
    sw t1, 4(t0)
    li t1, TARGET << 18 | 2
    li t2, {APLIC + 0x3004:#x}
    sw t1, (t2)
    li t1, 1
    li t2, {APLIC + 0x1EDC:#x}
    sw t1, (t2)
    li t0, 0x10000000
    li t1, 1
    sb t1, 1(t0)
    li t1, '?'
    sb t1, (t0)
    li t0, TARGET
    beqz t0, 3f
2:  wfi
    j 2b
3:  wfi
    beqz s9, 3b
    la t3, taken
    lw t3, (t3)
    li t0, 0x10000000
    sb s11, (t0)
    lbu t1, (t0)
    sb t1, (t0)
    lbu t1, 5(t0)
    off 0
other:
    li s4, 1
    j begin
{HANDLER}
"""


def finished(run: Any, typed: str = "", state: system.ConsoleState | None = None) -> system.Session:
    """Continues a run to its end. Types the text when the run waits for input."""
    session, continues = system.Session(run, state), True
    while continues:
        assert session.run.now < 10**11, "it does not end"
        if session.waits:
            assert typed, "it waits for nothing"
            session.type(typed)
            typed = ""
        continues = session.run_to_next_look()
    return session


@pytest.mark.parametrize("mode", EXECUTION_MODES)
def test_store_to_an_interrupt_file_wakes_its_hart(mode: dict[str, Any]) -> None:
    session = finished(system.start(boot(IPI), **mode))
    assert (session.run.end, session.run.exit_code) == ("exited", 0)


@pytest.mark.parametrize("target", [0, 1])
def test_console_input_interrupts_its_target_hart(target: int) -> None:
    text = f".set TARGET, {target}\n{ECHO}"
    ends = [finished(system.start(boot(text), **mode), "ab").outcome() for mode in EXECUTION_MODES]
    assert (ends[0]["end"], ends[0]["console"]) == ("exited", "?ab")
    assert [end["time"] for end in ends] == [ends[0]["time"]] * len(EXECUTION_MODES)
    # one entry for each hart; no hart has written to another hart's file
    counts = ends[0]["interrupts"]
    assert counts[target]["device"] >= 1
    assert [count["ipi"] for count in counts] == [0] * len(counts)


def test_lowest_pending_identity_below_the_threshold_is_delivered_first() -> None:
    engine = run(CLAIMS_BY_THRESHOLD)
    assert engine.exit_code == 0
    assert struct.unpack("<3Q", engine.read(WORDS, 24)) == (0x30003, 0, 0x30003)


@NEEDS_ARENA
@pytest.mark.parametrize("when", [1, 10**5, "waits"])
def test_saved_run_ends_with_the_outcome_of_an_unsaved_run(tmp_path: Path, when: Any) -> None:
    text = f".set TARGET, 1\n{ECHO}"
    unsaved = finished(system.start(boot(text)), "xy").outcome()
    started = system.begin(boot(text), saved=True)
    session = system.Session(started.run)
    while not (session.waits if when == "waits" else session.run.now >= when):
        assert session.run_to_next_look(None if when == "waits" else when)
    system.save(started, session, tmp_path / "state")
    del session, started
    for typed in ("zz", "xy"):
        resumed = system.resume(tmp_path / "state")
        outcome = finished(resumed.run, typed, resumed.console_state).outcome()
        del resumed
    assert outcome == unsaved


ECHO_BESIDE_BUSY_HART = f".set TARGET, 0\n{ECHO}".replace(
    "other:\n", "other:\n    addi a5, a5, 1\n    j other\n"
)


@pytest.mark.bulk
def test_typed_input_reaches_a_kernel_with_a_hart_that_never_sleeps() -> None:
    session = finished(system.start(boot(ECHO_BESIDE_BUSY_HART)), "ab")
    assert (session.run.end, session.console) == ("exited", "?ab")


@NEEDS_ARENA
@pytest.mark.bulk
def test_restored_boot_receives_typed_input_at_the_same_time_as_an_unsaved_boot(
    tmp_path: Path,
) -> None:
    unsaved = finished(system.start(boot(ECHO_BESIDE_BUSY_HART)), "ab").outcome()
    started = system.begin(boot(ECHO_BESIDE_BUSY_HART), saved=True)
    session = system.Session(started.run)
    while session.run.now < 10**10:
        assert session.run_to_next_look()
    system.save(started, session, tmp_path / "state")
    del session, started
    resumed = system.resume(tmp_path / "state")
    assert finished(resumed.run, "ab", resumed.console_state).outcome() == unsaved


def test_folder_is_appended_to_the_initrd(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/run").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("bin/run")
    initrd = archive.append_folder(b"disk!", tmp_path)
    assert initrd == archive.append_folder(b"disk!", tmp_path)
    headers = [
        initrd[offset : offset + 110]
        for offset in range(8, len(initrd), 4)
        if initrd[offset : offset + 6] == MAGIC
    ]
    sizes = [int(header[54:62], 16) for header in headers]
    assert sizes == [0, 0, 5, 7, 0]
    names = [b"files", b"files/bin", b"files/bin/run", b"files/link", b"TRAILER!!!"]
    assert all(name + b"\0" in initrd for name in names)


@pytest.mark.parametrize("target", [0, 1])
def test_attribution_covers_accesses_after_its_start_and_changes_no_outcome(target: int) -> None:
    text = f".set TARGET, {target}\n{ECHO}"
    unobserved = finished(system.start(boot(text)), "ab")
    session = system.Session(system.start(boot(text)))
    while not session.waits:
        assert session.run_to_next_look()
    session.run.observe()
    session.type("ab")
    while session.run_to_next_look():
        pass
    assert session.outcome() == unobserved.outcome()
    assert sum(hart["device"] for hart in session.run.interrupts()) == 1
    assert session.run.uses()["waited_ps"].sum() > 0


def test_cpu_map_of_a_kernel_has_the_clusters_of_each_socket() -> None:
    for name, sockets, clusters in (("epyc7601x2", 2, 8), ("ccx:4x4", 1, 4)):
        machine = load(name)
        cores = [machine.core_of(hart) for hart in place(machine, "compact", smt=False)]
        cpus = cpu_map(machine, cores)
        assert [len(socket) for socket in cpus.values()] == [clusters] * sockets
