"""Does the page about engines state the age of its figures, and later changes of the model?"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs import engines_page as written
from tests.tools.rules import rules

from uncore.study.compare import model_state

NOW = model_state.parts()


def test_engines_page_agrees_with_the_result_files() -> None:
    """If this fails, run `python -m tests.docs.engines_page --renew`."""
    text = written.PAGE.read_text()
    assert text == written.page(text, NOW)


@pytest.mark.parametrize("name", ["engines", "matching"])
def test_each_row_on_file_names_a_version_a_date_and_a_recorded_model(name: str) -> None:
    model_states = written.states()
    for row in written.on_file(name):
        assert row["version"] and row["date"] and row["model"] in model_states
    for state, parts in model_states.items():
        assert model_state.state(parts) == state


def test_digests_of_the_model_cover_every_rule_and_table() -> None:
    tables = {"client.table", "join.table", "resolver.table", "transaction.table"}
    assert NOW.keys() == {*rules(), *tables}


def test_figures_are_older_than_the_model_after_a_rule_has_changed(tmp_path: Path) -> None:
    """Changing the text of a rule makes figures older; changing only its line breaks does not."""
    page = tmp_path / "model.md"
    text = (written.TOP / "docs/model.md").read_text()
    page.write_text(text.replace(" all draws are 0.", "\n  all draws are 0."))
    assert page.read_text() != text and model_state.changed(NOW, model_state.parts(page)) == []
    page.write_text(text.replace("all draws are 0.", "all draws are 1."))
    later = model_state.parts(page)
    assert model_state.changed(NOW, later) == ["V1"]
    assert model_state.state(later) != model_state.state(NOW)
    assert written._than(NOW, later) == "**older** than V1 of the model"


def test_figures_are_older_than_the_model_after_a_table_has_changed(tmp_path: Path) -> None:
    (tmp_path / "client.table").write_text("another")
    assert "client.table" in model_state.changed(NOW, model_state.parts(tables=tmp_path))


def test_page_does_not_call_figures_of_the_present_model_older() -> None:
    assert written._than(NOW, NOW) == "the model is today's"
