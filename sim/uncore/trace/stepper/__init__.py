"""The stepper: a traced run as one self-contained page, to step through.

    write(path, traces, command)     one run or two; `command` writes the same page again

data.py makes a run's document, page.py compresses it and puts it, the HTML, the style and the
scripts into one file.  The scripts are plain JavaScript.  The scripts of a run share one scope:
model.js (the state at a moment), sentences.js (events in words), machine.js, chart.js and lists.js
(drawings), view.js (the moment and line being shown).  common.js, labels.js, unpack.js and
partings.js belong to the page; main.js steps the runs.
"""

from uncore.trace.stepper.page import write

__all__ = ["write"]
