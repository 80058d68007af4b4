"""Parts shared by the engines that are other simulators.

    find        where the simulator is, and the message if it is missing
    run         a run: a folder, a process, its output, a Point; and which jobs are refused
    run_folder  the files of a folder that do not depend on the simulator
    printed     a program's output as the fields of a Point
    homes       the addresses of each memory node

An outside engine has the interface of `uncore.engine`, and in addition

    export(job: Job, place: Path) -> None    writes the run folder, for the simulator alone
    locate() -> object | None                the simulator found here; its str is one line
    protocol_of(job: Job) -> str             its own protocol, with which it runs the job
    DIFFERS: tuple[str, ...]                 why its times differ from the model's, for crosscheck

Invariant: nothing in here knows a simulator by name.
"""
