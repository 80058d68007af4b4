"""Jobs executed: from a request to results.

request.py          a user's words become jobs, jobs become results
keywords.py         the keywords of `uncore.run`, typed once
execute.py          runs jobs point by point
pool.py             on several cores of this computer
cluster.py          on the workers of a cluster
saved_points.py     finished points on disk, for `--resume`
saved_run.py        a run saved at a simulated time
rerun.py            the job of a saved result, run again
uncertainty.py      the intervals that numbers of a machine leave open
repeat_command.py   the command that repeats a job
"""
