"""Jobs executed: from a request to results, in the order of docs/design.md ("The way of a run").

keywords.py the keywords of `uncore.run`, typed once request.py makes complete, checked jobs from a
user's options uncertainty.py runs jobs on machines sampled from files whose numbers have intervals
enough.py the points of a job, as many and as long as is asked execute.py runs jobs point by point
pool.py on several cores of this computer cluster.py on the workers of a cluster saved_points.py
finished points on disk, for `--resume` saved_run.py a run saved at a simulated time rerun.py the
job of a saved result, run again repeat_command.py the command that repeats a job
"""
