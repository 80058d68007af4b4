"""Groups of options in --help, in their order."""

from __future__ import annotations

from cyclopts import Group as Panel

from uncore.job.schema import Group

_JOB = [group.value for group in (Group.MACHINE, Group.PROGRAM, Group.CHANCE)]
_TITLES = [*_JOB, "Output", "Pictures", "Saved runs", "This computer", Group.LIMITS.value]
_PANELS = {title: Panel(title, sort_key=number) for number, title in enumerate(_TITLES, 1)}

OUTPUT, PICTURES, SAVED, HERE = (_PANELS[title] for title in _TITLES[3:7])
OUTSIDE = Panel("Outside engines", sort_key=len(_TITLES) + 1)


def panel(group: Group) -> Panel:
    return _PANELS[group.value]
