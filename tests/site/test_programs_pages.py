"""Does each described foreign program have a page with its results?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from docs.site import programs


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "programs"
    programs.write(folder)
    return folder


def test_at_least_ten_programs_are_described_and_have_results() -> None:
    data = json.loads(programs.DATA.read_text())
    told = [program["page"] for program in programs.described()]
    assert len(told) == len(set(told)) >= 10
    assert set(told) == set(data)


def test_each_program_was_run_at_every_thread_count_on_three_machines() -> None:
    for page, known in json.loads(programs.DATA.read_text()).items():
        assert set(known["us"]) == set(programs.MACHINES), page
        assert all(len(times) == len(programs.THREADS) for times in known["us"].values()), page
        assert known["costliest"]["source"] and known["changes"], page


def test_page_says_how_to_get_the_program_and_which_line_costs_most(pages: Path) -> None:
    data = json.loads(programs.DATA.read_text())
    index = (pages / "README.md").read_text()
    for told in programs.described():
        text = (pages / f"{told['page']}.md").read_text()
        assert told["get"] in text and f"./{told['name']}" in text and "{file}" not in text
        assert data[told["page"]]["costliest"]["source"] in text
        assert (pages / f"{told['page']}.png").stat().st_size > 1000
        assert f"({told['page']}.md)" in index
