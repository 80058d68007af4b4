"""Does a position-independent program (-static-pie) run, and are its functions named?"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from tests.linux.programs import BARE, HERE, job

from uncore.errors import GuestError
from uncore.execution.execute import execute
from uncore.program import Program, compile_for_linux
from uncore.program.elf import FREE_LOAD_ADDRESS


@cache
def static_pie() -> Program:
    return compile_for_linux(HERE / "calls.c", (), (*BARE, "-fPIE", "-pie"))


def test_static_pie_is_loaded_at_an_unused_address_and_runs() -> None:
    program = static_pie()
    assert program.data[16] == 3 and program.entry > FREE_LOAD_ADDRESS  # ET_DYN
    points = execute([replace(job("locked", "3", harts=4), program=program)])[0].points
    assert (points[0].output, points[0].failures) == ("60\n", [])


def test_backtrace_of_a_static_pie_has_functions_and_lines() -> None:
    with pytest.raises(GuestError) as error:
        execute([replace(job("deadlock"), program=static_pie())])
    text = str(error.value)
    assert "on woken" in text and "sleep_on" in text and "raw.h:" in text
