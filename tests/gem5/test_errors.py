"""If gem5 is missing, is incomplete or fails, does a message say what is wrong?

Scripts replace gem5; uncore sees only what they print and how they end.
"""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path

import pytest
from tests.support.outside_errors import PLAY, cannot_be_found, crashes, refuses, run_folder

from uncore import api, engine
from uncore.cli.app import main
from uncore.engine import about, missing
from uncore.engine.gem5 import find, read
from uncore.errors import GuestError, OutsideError, UserError
from uncore.execution import request
from uncore.result import Point

END = "uncore: exit code={} tick=5 cause=semi:ADP_Stopped_ApplicationExit"
RECORDS = "".join(f"uc: hart={n} ops=3 begin={10 + n} end={40 + n} failures=0\n" for n in range(2))
# Statistics as gem5 24.0 writes them, for two controllers and for one.
STATISTICS = """
simInsts                                       1234                       # Instructions (Count)
system.ruby.L1Cache_Controller.Load      |        5     50.00%     50.00% |        5     50.00%\
    100.00% (Unspecified)
system.ruby.L1Cache_Controller.Load::total           10                       (Unspecified)
system.ruby.{0}L1Cache_Controller.NP.Load |        1     25.00%     25.00% |        3     75.00%\
    100.00% (Unspecified)
system.ruby.{0}L1Cache_Controller.NP.Load::total            4                       (Unspecified)
system.ruby.{0}L1Cache_Controller.S.Store |        2     66.67%     66.67% |        1     33.33%\
    100.00% (Unspecified)
system.ruby.{0}L1Cache_Controller.M.Load |       40     44.44%     44.44% |       50     55.56%\
    100.00% (Unspecified)
system.ruby.{0}L1Cache_Controller.M.Fwd_GETX |        0      0.00%      0.00% |        6    100.00%\
    100.00% (Unspecified)
system.ruby.{0}L1Cache_Controller.S.Inv            1       0.00%      0.00% (Unspecified)
system.ruby.{0}L2Cache_Controller.SS.L1_GETX            7       0.00%      0.00% (Unspecified)
""".replace("\\\n", "")
# Statistics of CHI, in which controllers of cores and of banks are of the same kind. There are two
# cores and a bank.
CHI = """
simInsts                                         99                       # Instructions (Count)
system.ruby.Cache_Controller.I.ReadUnique |        0      0.00%      0.00% |        0      0.00%\
      0.00% |        9    100.00%    100.00% (Unspecified)
system.ruby.Cache_Controller.UD.SnpUnique |        2     20.00%     20.00% |        3     30.00%\
     50.00% |        5     50.00%    100.00% (Unspecified)
system.ruby.Cache_Controller.BUSY_BLKD.SnpUnique |        4    100.00%    100.00% |        0\
      0.00%    100.00% |        0      0.00%    100.00% (Unspecified)
""".replace("\\\n", "")


SMALL_CORE_KIND = {"kinds.small": "core2", "core.small.clock": "1GHz"}


@pytest.fixture
def fake_gem5(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes a complete gem5 that prints nothing when it runs."""
    monkeypatch.setenv("UNCORE_GEM5", str(tmp_path / "gem5.opt"))
    # run folders are created in this folder
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    write_gem5(tmp_path, "")
    return tmp_path


def write_gem5(path: Path, commands: str, version: str = "24.0.0.1", **build: object) -> None:
    build_options = {"USE_RISCV_ISA": True, "PROTOCOL": "MESI_Two_Level", "NUMBER_BITS_PER_SET": 64}
    about_json = json.dumps({"version": version, "build": build_options | build})
    script = path / "gem5.opt"
    script.write_text(
        "#!/bin/sh\n"
        f"case \"$*\" in *about.py) echo 'uncore: {about_json}'; exit;; esac\n"
        f"mkdir -p m5out\n{commands}\n"
    )
    script.chmod(0o755)
    find._ask.cache_clear()


def test_complete_gem5_is_described_by_protocol_and_set_size(fake_gem5: Path) -> None:
    assert missing("gem5") == ""
    assert about("gem5") == "gem5 24.0.0.1 with RISC-V, MESI_Two_Level, sets of 64"


def test_gem5_is_found_in_a_checkout_of_its_sources(
    fake_gem5: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fake_gem5 / "build/RISCV").mkdir(parents=True)
    (fake_gem5 / "gem5.opt").rename(fake_gem5 / "build/RISCV/gem5.opt")
    monkeypatch.setenv("UNCORE_GEM5", str(fake_gem5))
    assert missing("gem5") == ""


def test_gem5_with_several_protocols_is_usable(fake_gem5: Path) -> None:
    """Since 24.1 there is a build switch for each protocol, which contains the protocol's name."""
    names = ("MESI_Two_Level", "MOESI_CMP_directory", "MI_example")
    switches = {f"RUBY_PROTOCOL_{name}": True for name in names}
    write_gem5(fake_gem5, "", "24.1.0.0", PROTOCOL="MULTIPLE", **switches)
    assert missing("gem5") == ""
    assert "MESI_Two_Level MOESI_CMP_directory" in about("gem5")


def test_missing_gem5_is_reported_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cannot_be_found("gem5", "gem5", monkeypatch, capsys)


@pytest.mark.parametrize(
    ("version", "build", "message"),
    [
        ("23.1.0.0", {}, "gem5 23.1.0.0 is too old: write --gem5 PATH of 24.0 or newer"),
        ("24.0.0.0", {"USE_RISCV_ISA": False}, "has no RISC-V; build one with it"),
        (
            "24.0.0.0",
            {"PROTOCOL": "MI_example"},
            "has the protocol MI_example; build one with MESI_Two_Level or MOESI_CMP_directory or",
        ),
        (
            "25.0.0.0",
            {"PROTOCOL": "MULTIPLE", "RUBY_PROTOCOL_MESI_Three_Level": True},
            "has the protocol MESI_Three_Level; build one with MESI_Two_Level or",
        ),
    ],
)
def test_gem5_without_a_needed_feature_is_refused(
    fake_gem5: Path, version: str, build: dict[str, object], message: str
) -> None:
    write_gem5(fake_gem5, "", version, **build)
    assert message in missing("gem5")


def test_program_that_is_not_gem5_is_refused(fake_gem5: Path) -> None:
    (fake_gem5 / "gem5.opt").write_text("#!/bin/sh\necho hello\n")
    find._ask.cache_clear()
    assert "gem5.opt does not answer as gem5 does" in missing("gem5")


def test_gem5_built_for_fewer_cores_than_the_machine_has_is_refused(fake_gem5: Path) -> None:
    write_gem5(fake_gem5, "", NUMBER_BITS_PER_SET=8)
    with pytest.raises(UserError, match="NUMBER_BITS_PER_SET=9 or more, or use fewer --threads"):
        api.run("bus:9", "lock/ticket", [9], engine="gem5")


def test_crash_of_gem5_is_reported(fake_gem5: Path) -> None:
    crashes("gem5", partial(write_gem5, fake_gem5))


@pytest.mark.parametrize(
    "message", ["x.cc:7: panic: Possible Deadlock", "gem5 has encountered a segmentation fault!"]
)
def test_cause_of_a_gem5_crash_is_reported_before_the_stack_trace(
    fake_gem5: Path, message: str
) -> None:
    write_gem5(fake_gem5, f"seq 9; echo '{message}'; seq 99; kill -ABRT $$")
    with pytest.raises(OutsideError, match=rf"status -6:\n  {message}\n  1\n"):
        api.run(*PLAY, engine="gem5")


def test_early_end_of_gem5_is_reported(fake_gem5: Path) -> None:
    write_gem5(fake_gem5, "echo 'uncore: exit code=0 tick=9 cause=simulate() limit reached'")
    with pytest.raises(OutsideError, match=r"lock/ticket did not: simulate\(\) limit") as e:
        api.run(*PLAY, engine="gem5")
    run_folder(e.value)


def test_trap_of_the_program_under_gem5_is_reported(fake_gem5: Path) -> None:
    trap = "uc: trap hart=1 mcause=2 mepc=80000000 mtval=0"
    write_gem5(fake_gem5, f"echo '{trap}'; echo '{END.format(3)}'; touch m5out/stats.txt")
    with pytest.raises(GuestError, match="status 3: hart 1: illegal instruction at 0x80000000"):
        api.run(*PLAY, engine="gem5")
    assert not list(fake_gem5.glob("uncore-gem5-*"))


def test_program_that_has_not_ended_within_its_time_limit_under_gem5_is_reported(
    fake_gem5: Path,
) -> None:
    """The script ends without records."""
    message = "uc: check failed hart=0 times=1 the program has not ended within its patience"
    write_gem5(fake_gem5, f"echo '{message}'; echo '{END.format(1)}'; touch m5out/stats.txt")
    with pytest.raises(GuestError, match="status 1: hart 0: the program has not ended within"):
        api.run(*PLAY, engine="gem5")


def write_successful_gem5(
    fake_gem5: Path, statistics: str, first_command: str = ":", **build: object
) -> None:
    """Makes a gem5 that completes its work and writes these statistics."""
    (fake_gem5 / "stats").write_text(statistics)
    (fake_gem5 / "output").write_text(RECORDS + END.format(0) + "\n")
    write_gem5(
        fake_gem5,
        f"{first_command}; cat {fake_gem5}/output; cp {fake_gem5}/stats m5out/stats.txt",
        **build,
    )


def only_point() -> Point:
    (point,) = api.run(*PLAY, engine="gem5", seeds=()).outcome.points
    return point


@pytest.mark.parametrize("prefix", ["", "MESI_Two_Level."])
def test_statistics_of_gem5_become_a_point(fake_gem5: Path, prefix: str) -> None:
    """The names of statistics may have the protocol's name as a prefix, which depends on the
    version.
    """
    write_successful_gem5(fake_gem5, STATISTICS.format(prefix))
    point = only_point()
    assert (point.ops, point.elapsed_ps, point.instructions) == (6, 31_000, 1234)
    assert (point.transactions, point.invalidations) == (7, 7)
    assert point.latency is None and "latency" in point.absent


def test_counts_under_chi_leave_out_lines_lost_by_banks_and_repeated_snoops(
    fake_gem5: Path,
) -> None:
    """Lines that a bank loses are not counted, nor are snoops that are sent again after a wait."""
    write_successful_gem5(fake_gem5, CHI, PROTOCOL="CHI")
    point = only_point()
    assert (point.transactions, point.invalidations) == (9, 5)


def test_statistics_of_other_controllers_are_not_counted_as_those_of_a_core() -> None:
    names = ("ruby.L1Cache_Controller.M.Inv", "l1.M.Inv", "ruby.L2Cache_Controller.M.Inv")
    statistics = "".join(
        f"system.{name}     2      0.00%      0.00% (Unspecified)\n" for name in names
    )
    assert read.transitions(statistics, "L1Cache_Controller") == {"M.Inv": (2,)}


def test_progress_of_gem5_is_reported(fake_gem5: Path) -> None:
    """Progress is the last complete line that gem5 has written, so that it is never overstated."""
    write_successful_gem5(
        fake_gem5, STATISTICS.format(""), "printf '7\\n15\\n9' > progress.txt; sleep 0.3"
    )
    reported: set[int] = set()
    job = request.make_job(*PLAY, engine="gem5")
    engine.run(job, frozenset(), lambda operations, reached: reported.add(reached))
    assert reported <= {0, 15} and 15 in reported


@pytest.mark.parametrize(
    ("machine", "threads", "options", "message"),
    [
        ("epyc7601x2", 2, {"placement": "0,1"}, "--smt off"),
        (
            "ccx:2x4",
            8,
            {},
            "share lines within ccx0, ccx1 and between them: .* has MESI_Two_Level$",
        ),
        ("power9x2", 2, {"smt": False}, "each of 2 memory nodes .* write --home node0"),
        ("bus:2", 2, {"home": "first-touch"}, "write addressed"),
        ("bus:2", 2, {"slices": "0"}, "write hash"),
        ("bus:2", 2, {"overrides": {"core.atomics": "far"}}, "core.atomics=near"),
        ("ring:4", 4, {"overrides": SMALL_CORE_KIND}, r"kinds \(core and small\).* --place"),
    ],
)
def test_job_that_gem5_cannot_run_is_refused(
    fake_gem5: Path, machine: str, threads: int, options: dict[str, object], message: str
) -> None:
    refuses("gem5", machine, threads, options, message)


@pytest.mark.parametrize("simulator", ["gem5", "sst"])
def test_export_command_writes_a_run_folder(
    tmp_path: Path, simulator: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exports for both simulators in one process. An existing folder is refused."""
    arguments = ["export", simulator, "bus:2", "lock/ticket", "-o", str(tmp_path / "run")]
    for status in (0, UserError.status):
        with pytest.raises(SystemExit) as exit_:
            main(arguments)
        assert (exit_.value.code or 0) == status
    assert (tmp_path / "run/README.md").is_file()
    assert "there is one already; name a new folder" in capsys.readouterr().err
