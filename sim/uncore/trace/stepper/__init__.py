"""The stepper: a traced run as one page that needs nothing else, to step through.

write(path, trace, command)      `command`: the words that give the page again

data.py makes the page's data, page.py puts them, the HTML, the style and the scripts into one file.
The scripts are plain JavaScript and share their names: model.js (the state at a moment),
sentences.js (events in words), machine.js, chart.js and lists.js (drawings), main.js (stepping).
"""

from uncore.trace.stepper.page import write

__all__ = ["write"]
