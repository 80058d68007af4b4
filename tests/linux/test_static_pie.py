"""Is a program that may be loaded anywhere (-static-pie) loaded, run and named in its own words?"""

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
def anywhere() -> Program:
    return compile_for_linux(HERE / "calls.c", (), (*BARE, "-fPIE", "-pie"))


def test_static_pie_is_loaded_above_its_files_addresses() -> None:
    program = anywhere()
    assert program.data[16] == 3 and program.entry > FREE_LOAD_ADDRESS  # ET_DYN
    points = execute([replace(job("locked", "3", harts=4), program=program)])[0].points
    assert (points[0].output, points[0].failures) == ("60\n", [])


def test_functions_of_a_loaded_static_pie_have_their_lines() -> None:
    with pytest.raises(GuestError) as error:
        execute([replace(job("deadlock"), program=anywhere())])
    text = str(error.value)
    assert "on woken" in text and "sleep_on" in text and "raw.h:" in text
