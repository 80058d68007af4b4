"""Does a calibration find the numbers of the machine that was measured, and report those that the
matrix does not determine?"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import numpy as np
import pytest

from uncore import topology
from uncore.api import run
from uncore.cli.app import main
from uncore.topology.cpus import hart_of_cpu
from uncore.topology.machine import Machine
from uncore_lab.calibrate.determined import undetermined
from uncore_lab.calibrate.fit import FINAL_ROUNDS, Fitted, solve
from uncore_lab.calibrate.order import map_of
from uncore_lab.calibrate.problem import Problem
from uncore_lab.calibrate.write import machine_file, numbers_to_write
from uncore_lab.figures import hardware as figures
from uncore_lab.figures.simulate import handoffs
from uncore_lab.fitting.numbers import free_numbers_of, settings


def write(path: Path, machine: Machine, ns: np.ndarray) -> Path:
    """Writes a matrix by hart as a CSV file in the order of the operating system's CPU numbers."""
    both_triangles, harts = np.fmax(ns, ns.T), hart_of_cpu(machine)
    rows = [
        [
            f"{both_triangles[a, b]:.3f}" if j < i and both_triangles[a, b] > 0 else ""
            for j, b in enumerate(harts)
        ]
        for i, a in enumerate(harts)
    ]
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    return path


def matrix_of_changed_machine(
    path: Path, name: str, factors: dict[str, float], home: str, slice_: str = "hash"
) -> Path:
    """Writes the matrix of a machine whose numbers are multiplied by `factors`."""
    free_numbers = free_numbers_of(name, list(factors))
    changed = settings(
        {key: free_numbers[key].value * f for key, f in factors.items()}, free_numbers
    )
    machine = topology.load(name, changed)
    hardware = msgspec.structs.replace(figures.by_level(machine, home), slice=slice_)
    return write(path, machine, handoffs(machine, hardware))


def factors_of(fitted: Fitted) -> dict[str, float]:
    return dict(zip(fitted.problem.free_numbers, np.exp(fitted.steps).tolist(), strict=True))


WRONG = [
    ("tr1950x", "node1", "2", [1.25, 0.8, 1.3, 0.75]),
    ("r5950x", "node0", "5", [0.85, 1.2, 1.2]),
    pytest.param("e52695v4x2", "node0|node1", "7", [1.2, 0.8, 1.15], marks=pytest.mark.long),
]


@pytest.mark.parametrize(("name", "home", "slice_", "factors"), WRONG)
def test_calibration_recovers_changed_numbers(name, home, slice_, factors, tmp_path) -> None:
    """Two equal sockets cannot be told apart, so either may be found as the home."""
    keys, homes = list(free_numbers_of(name)), home.split("|")
    right = dict(zip(keys, factors, strict=True))
    fitted = solve(
        Problem.load(
            name, matrix_of_changed_machine(tmp_path / "m.csv", name, right, homes[0], slice_)
        )
    )
    assert fitted.choice.home in homes and fitted.choice.slice == slice_
    assert not fitted.choice.order
    assert factors_of(fitted) == pytest.approx(right, rel=0.015)
    assert undetermined(fitted) == []


@pytest.mark.long
def test_calibration_finds_the_quadrant_of_the_memory(tmp_path) -> None:
    free_numbers = free_numbers_of("tr3960x")
    moved = settings(
        {key: 1.1 * number.value for key, number in free_numbers.items()}, free_numbers
    )
    machine = topology.load("tr3960x", [*moved, "socket.join.memory=q1"])
    ns = handoffs(machine, figures.by_level(machine, "node0"))
    fitted = solve(Problem.load("tr3960x", write(tmp_path / "m.csv", machine, ns)))
    assert fitted.choice.settings == ("socket.join.memory=q1",)


def test_calibration_finds_the_stops_of_renamed_cores(tmp_path) -> None:
    """Cores are renamed at random. (The tests above check that a correct order does not change.) A
    mirror image differs only in the path to the uplink, which another number can compensate.
    """
    machine, hardware = topology.load("r5950x"), figures.read("r5950x")
    cores = np.random.default_rng(1).permutation(8)  # the same order in both complexes
    cores = np.concatenate([cores, 8 + cores])
    harts = (2 * cores[:, None] + [0, 1]).ravel()
    ns = handoffs(machine, hardware)
    renamed = np.where(np.tri(machine.harts, k=-1), np.fmax(ns, ns.T)[np.ix_(harts, harts)], np.nan)
    matrix = write(tmp_path / "m.csv", machine, renamed)
    fitted = solve(Problem.load("r5950x", matrix))
    off = fitted.problem.simulated(fitted.steps, fitted.choice, FINAL_ROUNDS) / renamed - 1
    levels = figures.level_of_pairs(machine)
    # Within a class, the errors of all pairs are nearly equal.
    for level in ("core", "ccx", "socket"):
        of_class = off[(levels == level) & ~np.isnan(off)]
        assert abs(np.median(of_class)) < 0.02
        assert np.mean(abs(of_class - np.median(of_class))) < 0.005
    assert fitted.choice.order.startswith("ccx.join.map=\n")
    output = tmp_path / "mine.toml"
    output.write_text(machine_file(fitted, matrix, output))
    drawn = fitted.choice.order.partition("=")[2].split()
    assert map_of(str(output), topology.load(output)).split() == drawn
    assert str(fitted.choice).count("\n") == 0


def test_follower_of_a_free_number_is_set_to_its_ratio_of_that_number() -> None:
    across = free_numbers_of("tr3960x")["socket.join.dy"]
    assert across.followers == (("socket.join.dx", 0.354),)
    assert across.settings(10.0)[1] == "socket.join.dx=3.540000ns"


def test_calibrating_a_real_matrix_gives_the_shipped_numbers(tmp_path) -> None:
    """The matrix consists of the shipped figures, to which the numbers in topologies/ were
    fitted.
    """
    machine = topology.load("tr1950x")
    figures_matrix = figures.matrix_of_figures(figures.read("tr1950x"), machine)
    fitted = solve(Problem.load("tr1950x", write(tmp_path / "m.csv", machine, figures_matrix)))
    assert fitted.choice.home == figures.read("tr1950x").home
    assert factors_of(fitted) == pytest.approx(
        dict.fromkeys(fitted.problem.free_numbers, 1), rel=0.06
    )


def test_written_machine_file_has_the_errors_that_it_states(tmp_path) -> None:
    """The matrix hardly depends on one number of the machine, so the calibration does not change
    this number.
    """
    machine = topology.load("r5800x3d")
    carried = figures.matrix_of_figures(figures.read("r5800x3d"), machine)
    matrix, output = write(tmp_path / "m.csv", machine, carried), tmp_path / "fitted.toml"
    fitted = solve(Problem.load("r5800x3d", matrix), slice_="2")
    output.write_text(machine_file(fitted, matrix, output))
    problem, choice = fitted.problem, fitted.choice
    ns = handoffs(topology.load(output), problem.hardware(choice), rounds=FINAL_ROUNDS)
    real, ours = problem.classes(problem.measured, choice), problem.classes(ns, choice)
    match = re.search(r"([\d.]+) % at worst", output.read_text())
    assert match
    worst = max(abs(ours[name] / real[name] - 1) for name in real)
    assert float(match[1]) == pytest.approx(100 * worst, abs=0.1)


def test_undetermined_numbers_are_reported(tmp_path) -> None:
    """A handoff does not read memory, so memory.latency is undetermined; the costs of an L2 and of
    entering a ring occur only as a sum, so neither is determined alone.
    """
    right = {"ccx.join.inject": 1.2}
    matrix = matrix_of_changed_machine(tmp_path / "m.csv", "tr1950x", right, "node1")
    with_memory = Problem.load("tr1950x", matrix, ["memory.latency", *right])
    fitted = solve(with_memory, "node1", "hash")
    assert undetermined(fitted) == [
        "memory.latency: the matrix says nothing of it; it stays where it was"
    ]
    assert list(numbers_to_write(fitted)) == list(right)
    ring = "socket.join.inject"
    matrix = matrix_of_changed_machine(tmp_path / "ring.csv", "i54590", {ring: 1.2}, "node0")
    sums = solve(Problem.load("i54590", matrix, ["core.l2.latency", ring]), "node0", "hash")
    [sentence] = undetermined(sums)
    assert re.fullmatch(rf"moved together .* core.l2.latency \+10 %, {ring} -\d %", sentence)
    assert np.sqrt(np.mean(sums.solution.residuals**2)) < 0.01
    assert all(word == ", not determined alone" for _, word in numbers_to_write(sums).values())


def test_matrix_of_another_machine_is_reported(tmp_path) -> None:
    """Every latency is divided by three. No path of the machine can be so short."""
    machine = topology.load("i54590")
    third = handoffs(machine, figures.by_level(machine, "node0")) / 3
    fitted = solve(Problem.load("i54590", write(tmp_path / "m.csv", machine, third)), slice_="hash")
    assert any("as small as it may become" in sentence for sentence in undetermined(fitted))


def calibrate(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["calibrate", *arguments])
    return int(ended.value.code or 0)


def test_written_file_loads_and_has_the_fitted_numbers(tmp_path, capsys) -> None:
    matrix = matrix_of_changed_machine(
        tmp_path / "mine.csv", "i54590", {"socket.join.inject": 1.5}, "node0", "2"
    )
    output = tmp_path / "mine.toml"
    arguments = ["i54590", "--matrix", str(matrix), "-o", str(output)]
    assert calibrate(*arguments) == 0
    assert "socket.join.inject" in capsys.readouterr().out
    numbers = {n.key: n for n in topology.load(output).numbers}
    before = {n.key: n for n in topology.load("i54590").numbers}
    assert numbers["socket.join.inject"].source == "fitted: mine.csv"
    low, high = (float(end.rstrip("cyns")) for end in numbers["socket.join.inject"].interval)
    assert low < float(numbers["socket.join.inject"].text.rstrip("cyns")) < high
    assert numbers["socket.join.eject"].source == "as inject"
    assert numbers["socket.join.eject"].text == numbers["socket.join.inject"].text
    assert numbers["core.mispredict"] == before["core.mispredict"]
    assert not run(str(output), "lock/ticket", [4], parameters={"ops": 5}).failed
    assert calibrate(*arguments) == 2 and "--force" in capsys.readouterr().err
    # A second calibration, which starts from the written file, changes nothing.
    again = tmp_path / "again.toml"
    assert calibrate(str(output), "--matrix", str(matrix), "-o", str(again)) == 0
    assert 'extends = "mine.toml"' in again.read_text()


def test_matrix_of_a_busy_host_is_refused(tmp_path, capsys) -> None:
    """All latencies are doubled, as if other programs had run. The fit is good, but the fitted
    number is implausible.
    """
    matrix = matrix_of_changed_machine(
        tmp_path / "busy.csv", "i54590", {"socket.join.inject": 9.0}, "node0", "2"
    )
    output = tmp_path / "busy.toml"
    arguments = [
        "i54590",
        "--matrix",
        str(matrix),
        "-o",
        str(output),
        "--free",
        "socket.join.inject",
    ]
    assert calibrate(*arguments) == 1
    printed = capsys.readouterr()
    assert "times the number of i54590" in " ".join(printed.out.split())
    assert "--doubtful writes it" in printed.err
    assert not output.exists()
    assert calibrate(*arguments, "--doubtful") == 0
    assert output.exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--free", "socket.join.injct"], "Did you mean 'socket.join.inject'"),
        (["--free", "tree"], "has no such number"),
        (["--free", "core.store_buffer"], "no latency"),
        (["--home", "node1"], "expected node0, or pair"),
        (["--slices", "9"], "a slice from 0 to 3"),
    ],
)
def test_invalid_option_is_refused_with_the_reason(arguments, expected, tmp_path, capsys) -> None:
    matrix = matrix_of_changed_machine(
        tmp_path / "m.csv", "i54590", {"socket.join.inject": 1}, "node0"
    )
    assert calibrate("i54590", "--matrix", str(matrix), *arguments) == 2
    assert expected in capsys.readouterr().err


def test_fitted_cycles_change_in_all_kinds_of_cores_that_inherit_them(tmp_path: Path) -> None:
    file = tmp_path / "hybrid.toml"
    file.write_text(
        'extends = "m1pro"\n[core.small]\nclock = "1.6GHz"\n[kinds]\nsmall = "cluster2"\n'
    )
    number = free_numbers_of(str(file), ["core.mispredict"])["core.mispredict"]
    assert number.settings(3.0) == [
        "core.mispredict=3.000000ns",
        "core.small.mispredict=6.000000ns",
    ]
