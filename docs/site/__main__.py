"""Builds the site: python -m docs.site, or scripts/site, which first builds what the site needs.

    build/site-pages/    input of MkDocs: the repository's Markdown files at their paths (README.md
                         is first.md, because index.html is the front page); pages and pictures of
                         results, lessons and machines; the playground's page
    build/site/          output: open index.html, or serve the folder

With `--matrices DIR`, heat maps show the measured matrices DIR/MACHINE.csv, which are not in the
repository, instead of the figures that the package contains. Generated files are not committed, and
no page loads anything from other servers.
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

The playground is the native engine, compiled to WebAssembly, with every shipped machine and
workload. Choose and run one, see the curve, step through a run, change the machine's numbers, or
write a workload of your own. It needs no installation and no server, and its results have the same
hashes as those of `uncore run`.
"""


def main(matrices: Path | None = None) -> None:
    shutil.rmtree(PAGES, ignore_errors=True)
    copy_manual(PAGES)
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
    (PAGES / "iframe-worker.js").write_text(search_script())
    mkdocs_command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--clean", "-f"]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    subprocess.run([*mkdocs_command, HERE / "mkdocs.yml"], check=True, env=environment)
    (SITE / "404.html").unlink()  # it loads its style from a server's root folder
    # Written after MkDocs, because the manual also has a page named index.html.
    (SITE / "play.html").write_text(playground.page(WASM.read_bytes()))
    (SITE / "index.html").write_text(front.page(WASM.read_bytes()))
    print(f"site: {SITE / 'index.html'}")


def search_script() -> str:
    """Returns a script that makes search work in pages that are opened as files. It contains the
    search worker of the theme.
    """
    theme = Path(str(files("material")), "templates/assets/javascripts/workers")
    (worker,) = theme.glob("search.*.min.js")
    text = json.dumps(worker.read_text())
    return f"const SEARCH_WORKER = {text};\n{(HERE / 'searches.js').read_text()}"


def copy_manual(pages: Path) -> None:
    """Copies the repository's Markdown files, and all files that they link to."""
    sources = [TOP / name for name in FIRST] + sorted((TOP / "docs").glob("*.md"))
    sources += [TOP / "docs/lessons/README.md"]
    copied: set[Path] = set()
    while sources:
        source = sources.pop()
        if source in copied or not source.is_file():
            continue
        copied.add(source)
        target = pages / ("first.md" if source == README else source.relative_to(TOP))
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix != ".md":
            shutil.copyfile(source, target)
            continue
        text = source.read_text()
        # links to lessons lead to their HTML pages, which main() writes
        if source.parent.name == "lessons":
            text = re.sub(r"\]\((\w+)\.md\)", r"](\1.html)", text)
        links = [(source.parent / link).resolve() for link in LINK.findall(text)]
        readme_link = os.path.relpath(README, source.parent)
        text = text.replace(f"]({readme_link}", f"]({readme_link.replace('README', 'first')}")
        sources += [link for link in links if TOP in link.parents]
        text = reference.linked(text, str(source.relative_to(TOP)))
        target.write_text(text.replace(BARS, results.bars()))


def _matrices() -> Path | None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--matrices", type=Path, metavar="DIR")
    return parser.parse_args().matrices


if __name__ == "__main__":
    main(_matrices())
