"""Parts shared by the engines that are other simulators.

    find        finds the simulator, and words the message if it is missing
    run         executes a run folder in a process; refuses jobs that these engines cannot run
    run_folder  writes the files of a run folder that do not depend on the simulator
    printed     reads a program's output into the fields of a Point
    homes       returns the addresses of each memory node

An outside engine has the interface of `uncore.engine`, and in addition

    export(job: Job, place: Path) -> None    writes a run folder that needs only the simulator
    locate() -> object | None                the simulator found here; its str is one line
    protocol_of(job: Job) -> str             the simulator's protocol with which it runs the job
    DIFFERENCES: tuple[str, ...]             reasons why its times differ from the model's

Invariant: no module of this package depends on a particular simulator.
"""
