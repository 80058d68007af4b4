"""Builds the site: python -m docs.site, or scripts/site, which brings what it needs.

    build/site-pages/    laid out here: the tree's Markdown where it stands, so that links hold, but
                         for README.md, which is first.md, because index.html is a page of its own;
                         pages and pictures that are made of data; lessons, machines, the playground
    build/site/          what MkDocs makes of it: open index.html, or serve the folder

`--matrices DIR` has complete measured matrices DIR/MACHINE.csv, which are no part of the tree: heat
maps then show them instead of the carried figures.  Nothing that is made here is committed, and no
page asks anybody for anything.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

from docs.site import front, gallery, notebooks, playground, programs, reference, results

from uncore.study import lessons

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
PAGES, SITE = TOP / "build/site-pages", TOP / "build/site"
WASM = TOP / "build/native-web/engine.wasm"
README = TOP / "README.md"
FIRST = ("README.md", "CHANGELOG.md", "topologies/README.md", "workloads/README.md")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
BARS = "<!-- the site puts the table of bars here -->\n"
PLAY = """# In the browser

[Open the playground](play.html){ .md-button .md-button--primary }

The native engine, compiled to WebAssembly, with every shipped machine and workload: choose, run,
see the curve, step through a run, change the machine's numbers, write a workload of your own, and
see again. It needs no installation and no server; what it computes has the hashes of `uncore run`.
"""


def main(matrices: Path | None = None) -> None:
    shutil.rmtree(PAGES, ignore_errors=True)
    manual(PAGES)
    reference.write(PAGES)
    results.write(PAGES / "docs")
    gallery.write(PAGES / "machines", matrices)
    programs.write(PAGES / "programs")
    notebooks.write(PAGES / "docs/notebooks")
    for name in lessons.names():
        lessons.write(PAGES / f"docs/lessons/{name}.html", name, home="index.html")
        lessons.write_teachers(PAGES / f"docs/lessons/{name}-teacher.html", name)
    (PAGES / "playground.md").write_text(PLAY)
    for name in ("offline.css", "scrolls.js"):
        shutil.copy(HERE / name, PAGES)
    (PAGES / "iframe-worker.js").write_text(searches())
    words = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--clean", "-f"]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    subprocess.run([*words, HERE / "mkdocs.yml"], check=True, env=quiet)
    (SITE / "404.html").unlink()  # it needs its style in a server's root
    # Written after MkDocs, because the manual has a page of that name, too.
    (SITE / "play.html").write_text(playground.page(WASM.read_bytes()))
    (SITE / "index.html").write_text(front.page(WASM.read_bytes()))
    print(f"site: {SITE / 'index.html'}")


def searches() -> str:
    """The script that lets a page opened as a file search: it has the theme's worker as text."""
    theme = Path(str(files("material")), "templates/assets/javascripts/workers")
    (worker,) = theme.glob("search.*.min.js")
    text = json.dumps(worker.read_text())
    return f"const SEARCH_WORKER = {text};\n{(HERE / 'searches.js').read_text()}"


def manual(pages: Path) -> None:
    """Copies the tree's Markdown, and all files that it links to."""
    waiting = [TOP / name for name in FIRST] + sorted((TOP / "docs").glob("*.md"))
    waiting += [TOP / "docs/lessons/README.md"]
    done: set[Path] = set()
    while waiting:
        source = waiting.pop()
        if source in done or not source.is_file():
            continue
        done.add(source)
        target = pages / ("first.md" if source == README else source.relative_to(TOP))
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix != ".md":
            shutil.copyfile(source, target)
            continue
        text = source.read_text()
        # the site makes the pages of lessons itself: these would replace them
        if source.parent.name == "lessons":
            text = re.sub(r"\]\((\w+)\.md\)", r"](\1.html)", text)
        links = [(source.parent / link).resolve() for link in LINK.findall(text)]
        up = os.path.relpath(README, source.parent)
        text = text.replace(f"]({up}", f"]({up.replace('README', 'first')}")
        waiting += [link for link in links if TOP in link.parents]
        text = reference.linked(text, str(source.relative_to(TOP)))
        target.write_text(text.replace(BARS, results.bars()))


def _matrices() -> Path | None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--matrices", type=Path, metavar="DIR")
    return parser.parse_args().matrices


if __name__ == "__main__":
    main(_matrices())
