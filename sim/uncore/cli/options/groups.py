"""Groups of options in --help, in the order in which they are printed."""

from __future__ import annotations

from cyclopts import Group as Panel

from uncore.job.schema import Group

_JOB_TITLES = [group.value for group in (Group.COMMON, Group.MACHINE, Group.CHANCE)]
_OTHER_TITLES = ["Pictures", "What if", "Output", "Saved runs", "This computer"]
_TITLES = [*_JOB_TITLES, *_OTHER_TITLES, Group.PROGRAM.value, Group.LIMITS.value]
_PANELS = {title: Panel(title, sort_key=number) for number, title in enumerate(_TITLES, 1)}

PICTURES, CHANGES, OUTPUT, SAVED, HERE = (_PANELS[title] for title in _OTHER_TITLES)
COMMON = _PANELS[Group.COMMON.value]
OUTSIDE = Panel("Outside engines", sort_key=len(_TITLES) + 1)


def panel(group: Group) -> Panel:
    return _PANELS[group.value]
