"""The stepper: a traced run as one page that needs nothing else, to step through.

write(path, trace, command)      `command`: the words that give the page again

`data` says what the page knows, page.py puts it and the parts beside (HTML, style, script) into one
file; the scripts are plain JavaScript, each a thing: model.js (what is when), words.js (in words),
machine.js, chart.js, lists.js (drawn), main.js (stepping).
"""

from uncore.trace.stepper.page import write

__all__ = ["write"]
