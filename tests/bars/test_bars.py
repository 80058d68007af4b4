"""Do handoffs of the shipped machines take as long as on the real machines?

The figures are those that come with the project (`uncore_lab/figures`); `uncore validate --matrices
DIR` does the same with measured matrices of your own.
"""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import msgspec
import numpy as np
import pytest

from uncore import topology
from uncore.cli.app import main
from uncore.errors import UserError
from uncore.support.paths import TOPOLOGIES
from uncore.topology.cpus import hart_of_cpu
from uncore.topology.distance import distance
from uncore_lab import validate
from uncore_lab.figures import hardware as figures
from uncore_lab.figures.simulate import handoffs
from uncore_lab.results.table import differences
from uncore_lab.validate import contention, handoff
from uncore_lab.validate.score import broken, free_number_keys, score
from uncore_lab.validate.section import Request


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", figures.machines_with_figures())
def test_handoffs_keep_their_bounds_and_equal_the_class_medians_on_file(name: str) -> None:
    compared = handoff.compared(name, Request())
    assert broken(compared.score, figures.read(name)) == []
    assert [line for table in handoff.tables([compared]) for line in differences(table)] == []


@pytest.mark.parametrize("name", figures.machines_with_figures())
def test_each_class_of_the_figures_has_as_many_pairs_as_on_the_machine(name: str) -> None:
    machine, hardware = topology.load(name), figures.read(name)
    masks = hardware.masks(machine)
    assert not np.any(np.sum(list(masks.values()), axis=0) > 1)
    for label, mask in masks.items():
        expected = hardware.classes[label].pairs
        # One pair is missing, because its time was below the resolution of the machine's clock.
        lost = 1 if name == "core2q9550" else 0
        assert np.count_nonzero(mask) - lost * (label == "l3") == expected, label


def test_source_of_a_fitted_family_number_names_its_machines() -> None:
    for path in sorted((TOPOLOGIES / "families").glob("*.toml")):
        for line in path.read_text().splitlines():
            _, fitted, ids = line.partition('source = "fitted')
            if fitted:
                names = ids.partition('"')[0].removeprefix(" on ").split()
                assert names and set(names) <= set(figures.machines_with_figures()), (
                    f"{path}: {line}"
                )


@pytest.mark.parametrize("name", figures.machines_with_figures())
def test_only_numbers_of_cores_and_levels_can_be_fitted(name: str) -> None:
    machine = topology.load(name)
    components = ("core.", *(f"{level}." for level in machine.levels))
    assert all(key.startswith(components) for key in free_number_keys(machine))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("tr1950x", "socket.join.latency=40ns"),  # changes the link between the dies
        ("tr1950x", "system.resolver.unblock=response"),  # another law
        ("epyc7302x2", "socket.join.memory=q3"),  # names the wrong quadrant as the home
        ("r5950x", "ccx.join.inject=6ns"),
    ],
)
def test_machine_with_a_wrong_number_has_larger_errors_than_the_shipped_machine(
    name: str, change: str
) -> None:
    hardware = figures.read(name)
    right, wrong = topology.load(name), topology.load(name, [change])
    measured = figures.matrix_of_figures(hardware, right)
    ours, theirs = (
        score(m, hardware, measured, handoffs(m, hardware), "test") for m in (right, wrong)
    )
    assert theirs.pair_mean_err_pct > 1.5 * ours.pair_mean_err_pct


def test_wrong_home_of_the_line_increases_the_errors_between_dies() -> None:
    hardware = figures.read("tr1950x")
    machine = topology.load("tr1950x")
    ns = handoffs(machine, hardware)
    masks = hardware.masks(machine)
    assert np.median(ns[masks["die-remote"]]) > 1.5 * np.median(ns[masks["die-home"]])


def test_several_processes_give_the_same_scores_as_one_process() -> None:
    alone, together = (handoff.run(Request(("r2700x", "i54590"), cores=cores)) for cores in (1, 2))
    assert [row["machine"] for row in together.rows] == ["r2700x", "i54590"]
    assert alone.rows == together.rows


# ---- A user's own matrix -------------------------------------------------------------------------


def write_matrix(folder: Path, name: str, factor: float = 1.0) -> None:
    """Writes the matrix that a user would measure on the machine, with every time multiplied by
    `factor`. Rows are in the order of the operating system's CPU numbers.
    """
    machine = topology.load(name)
    ns = handoffs(machine, figures.read(name))
    harts = hart_of_cpu(machine)
    lines = [
        ",".join(
            f"{factor * ns[max(harts[i], harts[j]), min(harts[i], harts[j])]:.4f}" if j < i else ""
            for j in range(machine.harts)
        )
        for i in range(machine.harts)
    ]
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


def test_a_matrix_is_read_in_the_order_of_the_operating_system(tmp_path: Path) -> None:
    write_matrix(tmp_path, "tr1950x")
    exact = handoff.compared("tr1950x", Request(matrices=tmp_path)).score
    assert exact.pairs_from == "matrix"
    assert exact.pair_mean_err_pct < 0.01 and exact.class_worst_err_pct < 0.01
    assert exact.pair_err_const_pct > 5 and exact.structure == 1.0


def test_validate_exits_with_1_if_a_machine_exceeds_a_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_matrix(tmp_path, "tr1950x", factor=1.2)
    with pytest.raises(SystemExit) as end:
        main(["validate", "tr1950x", "--matrices", str(tmp_path)])
    assert end.value.code == 1
    assert "past its bound: tr1950x: a class is" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("1,2\n3,4\n", "2 rows, but tr1950x has 32 CPUs"),
        ("\n" * 31 + "fast," * 31 + "\n", "32: 'fast' is no latency; expected ns, like 87.5"),
    ],
)
def test_invalid_matrix_is_refused_with_one_message(
    tmp_path: Path, text: str, arguments: str
) -> None:
    (tmp_path / "tr1950x.csv").write_text(text)
    with pytest.raises(UserError, match=arguments):
        handoff.compared("tr1950x", Request(matrices=tmp_path))


def test_unknown_machine_is_refused_with_the_nearest_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["validate", "tr1950"])
    assert end.value.code == 2
    assert "nothing was measured on 'tr1950'. Did you mean 'tr1950x'?" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["i912900k", "x8176x8", "epyc7302x2"])
def test_level_of_each_pair_equals_its_distance_class(name: str) -> None:
    machine = topology.load(name)
    levels, some = figures.level_of_pairs(machine), range(0, machine.harts, 3)
    for a, b in permutations(some, 2):
        assert levels[a, b] == distance(machine, a, b)
    assert set(levels.diagonal()) == {""}


def test_pairs_of_different_kinds_of_cores_are_classes_of_their_own() -> None:
    """The machine has eight cores of two threads, and two modules of four small cores."""
    machine = topology.load("i912900k")
    classes = figures.by_level(machine)
    assert {name: figure.pairs for name, figure in classes.classes.items()} == {
        "core": 8,
        "module-small": 2 * 6,
        "socket": 28 * 4,
        "socket-core-small": 16 * 8,
        "socket-small": 16,
    }
    together = sum(mask.astype(int) for mask in classes.masks(machine).values())
    assert (together == np.tri(machine.harts, k=-1)).all()


def test_the_classes_of_a_users_machine_are_its_levels_and_the_sides_of_its_home(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Like a user's machine, epyc7742x2 has no figures."""
    machine = topology.load("tr2990wx")
    assert machine.id not in figures.machines_with_figures()
    classes = figures.by_level(topology.load("epyc7742x2"), "node1").classes
    assert list(classes) == [
        "core", "ccx", "die-home", "die-remote", "socket-home", "socket-remote", "system"
    ]  # fmt: skip
    lines = [",".join(["50"] * row + [""] * (machine.harts - row)) for row in range(machine.harts)]
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    with pytest.raises(SystemExit) as end:
        main(["validate", "tr2990wx", "--matrix", str(tmp_path / "mine.csv"), "--json"])
    assert end.value.code == 0  # no bounds apply to a user's own matrix
    (row,) = msgspec.json.decode(capsys.readouterr().out)["handoff"]
    assert row["classes"] == 4 and row["medians"]["core"][0] == 50


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "handof"], "no such experiment; expected one of handoff"),
        (["--only", "handoff", "--all"], "write one or the other"),
        (["tr1950x", "--renew"], "a file of results holds every machine"),
        (["--matrix", "x.csv"], "name the one machine"),
        (["tr1950x", "--home", "node0"], "write --matrix FILE"),
        (["tr1950x", "--only", "directory"], "no directory was measured on 'tr1950x'"),
        (["tr1950x", "--only", "contention"], "no contention was measured on 'tr1950x'"),
        (["tr1950x", "--only", "scaling"], "no curves were measured on 'tr1950x'"),
        (["tr1950x", "--only", "clocks"], "leave the names out"),
        (["tr1950", "--all"], "nothing was measured on 'tr1950'. Did you mean 'tr1950x'?"),
        (["tr1950x", "--only", "interrupts"], "no interrupts were measured on 'tr1950x'"),
        (["tr1950x", "--only", "blind"], "no prediction is on record of 'tr1950x'"),
    ],
)
def test_impossible_request_is_refused_with_the_reason(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["validate", *arguments])
    assert end.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_validate_all_runs_every_experiment_with_figures_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Contention was not measured on this machine. This is an error only if the user names the
    experiment.
    """
    monkeypatch.setattr(
        validate, "EXPERIMENTS", {"contention": contention.run, "handoff": handoff.run}
    )
    with pytest.raises(SystemExit) as end:
        main(["validate", "tr1950x", "--all", "--json"])
    assert end.value.code == 0
    assert list(msgspec.json.decode(capsys.readouterr().out)) == ["handoff"]
