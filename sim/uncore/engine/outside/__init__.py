"""Parts that engines share which are other simulators: everything except the simulator.

    find      where the simulator is; what is said where it is not
    run       a run: a folder, a process, what the process said, a Point; and what is refused
    folder    the files of a folder that do not depend on the simulator
    said      a program's output as the fields of a Point
    homes     which addresses a memory node has

An outside engine is a module as `uncore.engine` wants it, and has besides

    export(job: Job, place: Path) -> None    writes the run folder, for the simulator alone
    locate() -> object | None                which simulator is here; its str says so in one line
    protocol_of(job: Job) -> str             the protocol of its own that it runs the job with
    DIFFERS: tuple[str, ...]                 why its times are not the model's, for crosscheck

Invariant: nothing in here knows a simulator by name.
"""
