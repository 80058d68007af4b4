"""Is what the README shows what the command prints?

Outcomes are the same on any host, so the output can stand there word for word; only the hash, which
covers the program's bytes too, is left out of the comparison.  After a change of the model,
`UNCORE_ACCEPT=1 scripts/test cli` writes the new output into the README; read it.
"""

from __future__ import annotations

import os
import re
import shlex

from uncore.support.paths import CHECKOUT

EXAMPLE = re.compile(r"```console\n\$ scripts/run (?P<words>.*)\n(?P<output>[^`]*)```\n")


def test_readme_example_prints_its_output(uncore, monkeypatch):
    assert CHECKOUT
    readme = CHECKOUT / "README.md"
    text = readme.read_text()
    example = EXAMPLE.search(text)
    assert example
    run = uncore(*shlex.split(example["words"]))
    printed = "\n".join(line.rstrip() for line in run.out.splitlines()).rstrip() + "\n"
    assert run.status == 0
    if os.environ.get("UNCORE_ACCEPT"):
        readme.write_text(text[: example.start("output")] + printed + text[example.end("output") :])
    else:
        assert without_hash(example["output"]) == without_hash(printed)


def without_hash(output: str) -> str:
    return re.sub(r"^result [0-9a-f]+$", "result", output, flags=re.MULTILINE)
