"""Do the engine's threads race when several cores execute at the same time?

    python -m tests.tools.races

Builds the native module with ThreadSanitizer and executes jobs on four threads, in parallel
whenever possible. Polars crashes under this sanitizer, so nothing here may import it, directly or
through pytest or helpers of other tests. The exit status is 0 if nothing was reported, otherwise
that of the sanitizer.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
VARIANT = "native-threads"  # folder into which SConstruct builds the module
PROGRAMS, MONITOR = "benchmarks/programs", "workloads/programs/lock/objectmonitor.c"
# Each job: machine, workload, threads, parameters and arguments.
JOBS = [
    ("epyc7601x2", f"{PROGRAMS}/private.c", 64, {"rounds": 30}, ()),
    ("ccx", "lock/mcs", 32, {"ops": 4}, ()),
    ("x5650x2", "lock/event_mutex", 21, {"ops": 4}, ()),
    ("epyc7302x2", "counter/atomic", 48, {"ops": 10}, ()),
    ("mesh", "lock/ticket", 64, {"ops": 4}, ()),
    ("tr1950x", "refcount/atomic", 16, {"ops": 8}, ()),
    ("epyc7302x2", "epoch/ebr", 48, {"ops": 5, "updates": 10}, ()),
    ("ccx:4x4", MONITOR, 16, {}, ("16", "10", "50", "200")),
    ("ccx:4x4", f"{PROGRAMS}/tally.c", 16, {}, ("16",)),
    ("ccx:4x4", f"{PROGRAMS}/primes.c", 16, {}, ("16",)),
]


def execute() -> None:
    """Executes the jobs. Runs in the process that has loaded the sanitizer."""
    from uncore.engine import native
    from uncore.execution.request import make_job

    host = native.HostUse(4, 4, eager=True)
    for machine, workload, threads, parameters, arguments in JOBS:
        job = make_job(
            machine, workload, (threads,), parameters=parameters, arguments=arguments, seeds=(1,)
        )
        run = native.start(job.at(threads, 1), host=host)
        while run.step(native.MAX_STEP_EVENTS):
            pass
        calls, instructions, _ = run.work()["parallel"]
        print(f"{machine} {workload}: {calls} calls, {instructions} instructions", flush=True)
        if run.end != "exited" or not instructions:
            sys.exit(f"{workload} ended as '{run.end}'")


def main() -> int:
    build = [sys.executable, "-m", "SCons", "-Q", "-s", "--sanitize=threads", "native"]
    if subprocess.run([*build, f"-j{os.cpu_count()}"], cwd=TOP, check=False).returncode:
        return 1
    libraries = [
        subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip()
        for name in ("libtsan.so", "libstdc++.so")
    ]
    environment = {
        **os.environ,
        "UNCORE_NATIVE": VARIANT,
        "LD_PRELOAD": " ".join(libraries),
        "TSAN_OPTIONS": "report_signal_unsafe=0",
    }
    # ThreadSanitizer needs an address layout without randomisation.
    command = ["setarch", "-R", sys.executable, "-m", "tests.tools.races", "--execute"]
    return subprocess.run(command, cwd=TOP, env=environment, check=False).returncode


if __name__ == "__main__":
    if "--execute" in sys.argv:
        execute()
    else:
        sys.exit(main())
