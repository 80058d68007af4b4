"""The stepper: a traced run as one page that needs nothing else, to step through.

write(path, traces, command)     one run or two; `command`: the words that give the page again

data.py makes a run's document, compact.py writes it in few bytes, page.py puts it, the HTML, the
style and the scripts into one file.  The scripts are plain JavaScript.  Those of a run share their
names: model.js (the state at a moment), sentences.js (events in words), machine.js, chart.js and
lists.js (drawings), view.js (the run's present moment).  common.js, labels.js, unpack.js and
partings.js are for all; main.js has the runs step.
"""

from uncore.trace.stepper.page import write

__all__ = ["write"]
