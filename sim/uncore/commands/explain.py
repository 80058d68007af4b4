"""What results say when they are read: scaling."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore.commands import OK, Json, Plot, app, note
from uncore.words import check_endings


@app.command
def scaling(
    result: Annotated[Path, Parameter(help="a result with several thread counts, 1 among them")],
    *,
    plot: Plot = None,
    json: Json = False,
) -> int:
    """Scaling laws of a saved result: three speed-ups, serialisation, a fit and its prediction."""
    import msgspec

    from uncore.api import load_result
    from uncore.report import scaling as report
    from uncore.report.plot import picture
    from uncore.result.scaling import analyse

    check_endings({"--plot": plot})
    found = analyse(load_result(result))
    if json:
        print(msgspec.json.format(msgspec.json.encode(found), indent=1).decode())
    else:
        report.show(found)
    if plot:
        note(f"picture: {picture(plot, report.panel(found))}")
    return OK
