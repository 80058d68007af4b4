"""Does the element for SST compile with the hart library and SST's interfaces, even without SST?

The compiler checks sim/sst with declarations of the parts of SST that it uses (the folder
declared). test_async_hart.py and test_async_rules.py test the behaviour of the hart.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support import host_compiler

from uncore.support.paths import CHECKOUT

HERE = Path(__file__).parent
ELEMENT = CHECKOUT / "sim/sst" if CHECKOUT else HERE
SOURCES = sorted(ELEMENT.glob("*.cc"))
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
pytestmark = pytest.mark.skipif(not SOURCES, reason="the element is not in this copy")


def compiler_messages(source: Path, native: Path, output_folder: Path) -> str:
    """Returns the compiler's messages about one source, with the engine's headers in the folder
    `native`.

    It also writes an object file, because zig's compiler cannot only check a source.
    """
    folders = [HERE / "declared", ELEMENT, native, ELEMENT.parents[1] / "workloads/include"]
    options = ["-std=c++20", *WARNINGS, *(f"-I{folder}" for folder in folders)]
    command = [
        *host_compiler.words(),
        *options,
        "-c",
        str(source),
        "-o",
        str(output_folder / "object.o"),
    ]
    environment = os.environ | {"LC_ALL": "C"}
    return subprocess.run(command, capture_output=True, text=True, env=environment).stderr


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_element_type_checks_without_sst(source: Path, tmp_path: Path) -> None:
    assert compiler_messages(source, ELEMENT.parent / "native", tmp_path) == ""


def test_compiler_reports_a_renamed_member_of_the_store_buffer(tmp_path: Path) -> None:
    native = shutil.copytree(ELEMENT.parent / "native", tmp_path / "native")
    header = native / "core/store_buffer.hh"
    header.write_text(header.read_text().replace("void remove(", "void discard("))
    assert "no member named 'remove'" in compiler_messages(
        ELEMENT / "component.cc", native, tmp_path
    )


def test_compiler_reports_a_missing_method_of_the_memory_interface(tmp_path: Path) -> None:
    native = shutil.copytree(ELEMENT.parent / "native", tmp_path / "native")
    header = native / "async/async_memory.hh"
    header.write_text(header.read_text().replace("RequestId load_link(", "RequestId load_linked("))
    errors_ = compiler_messages(ELEMENT / "standard_memory.cc", native, tmp_path)
    assert "load_link" in errors_ and "override" in errors_


def test_element_is_linked_from_its_sources_and_the_hart_library(tmp_path: Path) -> None:
    """SCons prints what it would link, even if the element is up to date. A script replaces SST."""
    config = tmp_path / "sst-config"
    config.write_text(f"#!/bin/sh\necho {tmp_path}\n")
    config.chmod(0o755)
    command = [sys.executable, "-m", "SCons", "-n", "-Q", "--tree=all,prune", "sst"]
    environment = os.environ | {"UNCORE_SST": str(tmp_path)}
    run = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True)
    _, _, tree = run.stdout.partition("+-build/sst/libuncore.so")
    objects = set(re.findall(r"^ *\|? *\+-(build/sst/\w+\.o)$", tree, re.MULTILINE))
    folders = [ELEMENT, ELEMENT.parent / "native/async", ELEMENT.parent / "native/hart"]
    sources = [source for folder in folders for source in folder.glob("*.cc")]
    assert objects == {f"build/sst/{source.stem}.o" for source in sources}
