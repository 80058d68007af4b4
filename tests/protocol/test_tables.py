"""Do the tables cover every case, and does an error state the place of a mistake?"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from uncore.cli.app import main
from uncore.errors import UserError
from uncore.protocol import render
from uncore.protocol.reader import MAX_STATES
from uncore.protocol.table_shapes import PROTOCOLS, names
from uncore.protocol.tables import IMPOSSIBLE, SHIPPED, load, pack, stored_texts


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Makes a copy of the shipped tables, as a user's folder."""
    for file in SHIPPED.glob("*.table"):
        shutil.copy(file, tmp_path)
    return tmp_path


def edit(path: Path, old: str, new: str) -> int:
    """Replaces the first occurrence of `old` and returns its line number."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return text[: text.index(old)].count("\n") + 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_impossible_cell_of_a_shipped_table_has_a_reason(protocol: str) -> None:
    for table in load(protocol):
        assert all(cell.possible or cell.reason for cell in table)


def test_protocols_differ_in_the_rows_that_are_tagged_with_their_names() -> None:
    assert load("mesi").client["M", "ProbeS"].next == "S"
    assert load("moesi").client["M", "ProbeS"].next == "O"
    assert load("msi").grant["GetS", "nobody"].next == "S"
    assert load("mesif").grant["GetS", "given"].next == "F"


def test_cells_are_packed_as_native_reads_them() -> None:
    tables, packed = load("mesi"), pack(load("mesi"))
    states, events = tables.client.rows, names()["client_events"]
    actions = names()["client_actions"]
    names_end = 1 + 2 * len(states)
    width = len(events) + MAX_STATES

    def cell(state: str, event: int) -> int:
        return packed[names_end + states.index(state) * width + event]

    bits = sum(1 << (8 + actions.index(a)) for a in ("give", "dirty", "shared"))
    assert packed[0] == len(states)
    assert packed[1:3] == [ord("I"), 0]
    assert cell("M", events.index("ProbeS")) == states.index("S") | bits
    # A cell without `next` does not change the state.
    assert cell("S", events.index("Load")) & 0xFF == states.index("S")
    assert cell("I", len(events) + states.index("S")) == IMPOSSIBLE  # data that grant S arrive
    others = sum(
        len(t.rows) * len(names()[t.shape.columns]) for t in tables if t is not tables.client
    )
    assert len(packed) == names_end + MAX_STATES * width + others


MISTAKES = {
    "an unknown action": ("client.table", "drop>I", "drip>I", "drip", "Did you mean 'drop'?"),
    "an unknown state": ("client.table", "GetS>IS", "GetS>IX", "GetS>IX", "expected a state"),
    "an unknown event": ("client.table", "ProbeM ", "ProbeN ", "ProbeN", "Did you mean 'Probe"),
    "an unknown row": ("resolver.table", "\nW   ", "\nX   ", "X", "expected one of N S W B R U"),
    "no reason": ("client.table", "!empty", "!full", "!full", "add a line 'full: why'"),
    "a hole": ("client.table", "!empty |", "  |", "13 cells", "expected 14"),
    "a row twice": ("resolver.table", "\nS   ", "\nN   ", "N", "each row once"),
    "an unknown tag": ("client.table", "[moesi,", "[moesy,", "[moesy]", "Did you mean 'moesi'?"),
    "an unused reason": ("join.table", "recalled:", "lost: x\nrecalled:", "lost:", "!lost"),
    "a next state": ("join.table", "| probeS ", "| probeS>I ", "probeS>I", "actions only"),
    "stall with more": ("client.table", "stall ", "stall+hit ", "stall+hit", "'stall' alone"),
    "prose": ("join.table", "\nN idle", "\nfoo\nN idle", "foo", "a # comment"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_in_a_table_is_named_with_its_line(mistake: str, directory: Path) -> None:
    file, old, new, read, advice = MISTAKES[mistake]
    line = edit(directory / file, old, new) + new.startswith("\n")
    with pytest.raises(UserError) as error:
        load(str(directory))
    assert f"{directory / file}:{line}: read '{read}'" in str(error.value)
    assert advice in str(error.value)


def test_table_without_the_row_of_a_state_is_refused_with_the_known_states(directory: Path) -> None:
    path = directory / "client.table"
    path.write_text("\n".join(r for r in path.read_text().split("\n") if not r.startswith("OM")))
    with pytest.raises(UserError, match="expected a state: one of I S F E M O IS IM SM MI II"):
        load(str(directory))


def test_directory_of_tables_gives_the_rows_of_the_requested_protocol(directory: Path) -> None:
    (directory / "join.table").unlink()  # without the file, the shipped table is used
    assert pack(load(f"{directory}:moesi")) == pack(load("moesi"))
    with pytest.raises(UserError, match="Did you mean 'moesi'"):
        load(f"{directory}:moesii")


def test_unknown_protocol_of_a_table_is_refused_with_the_list_of_known_protocols() -> None:
    with pytest.raises(UserError, match=r"one of msi, mesi, mesif, moesi.*Did you mean 'mesi'"):
        load("mesy")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_table_rendered_as_text_is_read_back_unchanged(protocol: str, tmp_path: Path) -> None:
    tables = load(protocol)
    for file, content in stored_texts(tables):
        (tmp_path / file).write_text(content)
    assert list(load(str(tmp_path))) == list(tables)


def test_rendered_page_contains_every_cell_and_reason() -> None:
    tables = load("moesi")
    page, cells = render.page(tables), render.html(tables.client)
    assert "| **M** | hit | hit | hit | Put>MI | give+own>O |" in page
    assert "data come only in answer to an outstanding request" in page
    assert '<td class="impossible" title="no copy here, nothing to evict">' not in cells
    assert '<td class="impossible" title="no copy, nothing to evict">!empty</td>' in cells


def test_check_prints_the_requested_tables(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["check", "moesi", "--print"])
    assert end.value.code == 0
    assert capsys.readouterr().out == render.document(["moesi"])
