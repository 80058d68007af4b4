"""Builds the engine as WebAssembly once, and calls it through the playground's scripts.

answer(job, watch=(threads, seed), window=(skip, span))     the result from Node.js: points, hash,
                                                            trace, seconds; `text` is the job's
                                                            text as the page writes it
node(script, ...)                                           the JSON that a Node.js script prints
"""

import json
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest
from docs.site import playground
from tests.support.one_process import alone

TOP = Path(__file__).resolve().parents[2]
WASM = TOP / "build/native-web/engine.wasm"


@cache
def built() -> Path:
    pytest.importorskip("SCons")
    command = [sys.executable, "-m", "SCons", "-Q", "-s", "-j2", "--web", "native"]
    with alone("native-web"):
        subprocess.run(command, cwd=TOP, check=True)
    return WASM


def node(*arguments, **options):
    """Runs Node.js and returns its output."""
    if not shutil.which("node"):
        pytest.skip("no Node.js here: apt-get install nodejs")
    done = subprocess.run(
        ["node", *arguments], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def answer(job, watch=None, window=None, text=None):
    resolved = playground.of_machine(job.machine)
    parameters = [[n, job.program.parameter(n).parse(text), text] for n, text in job.parameters]
    options = {"threads": job.threads, "placement": job.placement, "seeds": job.seeds}
    question = {
        "shared": playground.shared(),
        "machine": resolved,
        "workload": playground.workload(str(job.program.path) if text else job.program.name),
        "job": options | {"parameters": parameters},
        "watch": watch,
        "window": window,
    }
    if text is not None:
        question["text"] = text
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "question.json"
        file.write_text(json.dumps(question))
        return node(playground.HERE / "node.js", built(), file)
