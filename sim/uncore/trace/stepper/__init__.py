"""The stepper: a self-contained page on which a reader steps through a traced run.

    write(path, traces, command)     writes a page of one run or two; `command` writes it again

data.py makes the document of a run.  page.py compresses it and puts it into one file with the HTML,
the style and the scripts.  The scripts are plain JavaScript.  Those of a run share one scope:
model.js (the state at a moment), sentences.js (descriptions of events), machine.js, chart.js,
links.js, diagram.js and lists.js (drawings), view.js (the moment and the line that are shown).
common.js, labels.js, unpack.js and partings.js belong to the page; main.js steps the runs.
"""

from uncore.trace.stepper.page import write

__all__ = ["write"]
