"""Are all names in the scripts of a page declared and used?

Scripts cannot be checked one at a time, because those of a page are concatenated and share names.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from docs.site import front, playground

from uncore.drawing import standalone
from uncore.study import lessons
from uncore.trace import stepper

BIOME = Path(sys.executable).with_name("biome")
THEME = Path(standalone.__file__).with_name("theme.js")
SHARED = (THEME, THEME.with_name("packed.js"))
RULES = ("noUndeclaredVariables", "noUnusedVariables")


def beside(module, *names):
    return [Path(module.__file__).parent / name for name in names]


PAGES = {
    "lesson": beside(lessons, "lesson.js"),
    "playground": [playground.HERE / name for name in playground.PAGE],
    "front": [playground.HERE / "program.js", front.HERE / "front.js"],
}
TEXTS = {
    name: "\n".join(path.read_text() for path in [*SHARED, *paths]) for name, paths in PAGES.items()
} | {
    "stepper": "\n".join([*(path.read_text() for path in SHARED), stepper.page.script()]),
    "engine": playground.engine(),
}


def complaints(folder, script):
    """Returns a line for each diagnostic of the linter's RULES in `script`."""
    if not BIOME.exists():
        pytest.skip("no Biome for this machine: its wheel is for Linux, x86-64")
    (folder / "page.js").write_text(f"(async () => {{\n{script}\n}})();\n")
    rules = {"recommended": False, "correctness": dict.fromkeys(RULES, "error")}
    (folder / "biome.json").write_text(json.dumps({"linter": {"rules": rules}}))
    command = [BIOME, "lint", "--reporter=json", "--max-diagnostics=100", "page.js"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["diagnostics"]


@pytest.mark.parametrize("name", TEXTS)
def test_all_names_in_scripts_of_a_page_are_declared_and_used(name, tmp_path):
    assert complaints(tmp_path, TEXTS[name]) == []


def test_undeclared_and_unused_names_are_noticed(tmp_path):
    assert len(complaints(tmp_path, "const unused = undeclared;")) == 2


def test_data_that_pages_take_from_the_package_are_json():
    """The data include options of every run, but none that only a Linux program has."""
    options = json.loads(json.dumps(playground.shared()))["options"]
    assert {"placement", "seeds"} <= options.keys()
    assert "stdin" not in options
