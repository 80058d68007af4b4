"""Executes jobs, from a user's request to results (docs/design.md).

The files, in the order of a run:

    keywords.py          the keywords of `uncore.run`, with their types
    request.py           makes complete, checked jobs from a user's arguments
    uncertainty.py       runs a job on machines sampled from a file whose numbers have intervals
    enough.py            chooses the points of a job: a fixed list, or a search (`--within`)
    execute.py           runs jobs, point by point
    pool.py              worker processes on this computer
    cluster.py           workers of a Dask cluster
    saved_points.py      finished points on disk, for `--resume`
    saved_run.py         saves a run at a simulated time, and continues it
    rerun.py             runs the job of a saved result again
    repeat_command.py    the command line that repeats a job
"""
