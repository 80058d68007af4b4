"""Builds the simulation that system.json describes. It is executed by `sst`, in SST's own Python.

    sst --add-lib-path=DIR configuration.py      system.json and the program are in the same folder

Each object of the document becomes one object of SST, and each link becomes one link.  Parts are
assigned in order to the processes and threads of SST, so that neighbouring parts stay together.
"""

import json
import os

import sst

FOLDER = os.path.dirname(os.path.abspath(__file__))
os.chdir(FOLDER)
with open("system.json", encoding="utf-8") as file:
    system = json.load(file)

processes, threads = sst.getMPIRankCount(), sst.getThreadCount()
parts = 1 + max(described.get("part", 0) for described in system["objects"])
objects = {}
for described in system["objects"]:
    path = described["path"]
    owner, _, slot = path.rpartition("/")
    if owner:
        made = objects[owner].setSubComponent(slot, described["type"])
    else:
        made = sst.Component(path, described["type"])
        rank = described["part"] * processes * threads // parts
        made.setRank(rank // threads, rank % threads)
    made.addParams(described["params"])
    objects[path] = made

for number, described in enumerate(system["links"]):
    (a, a_port, a_latency), (b, b_port, b_latency) = described["ends"]
    link = sst.Link(f"link{number}")
    link.connect((objects[a], a_port, f"{a_latency}ps"), (objects[b], b_port, f"{b_latency}ps"))

sst.setProgramOption("timebase", "1ps")
sst.setProgramOption("partitioner", "sst.self")
sst.setStatisticLoadLevel(7)
sst.setStatisticOutput("sst.statOutputCSV", {"filepath": "statistics.csv", "separator": ","})
for described in system["statistics"]:
    objects[described["path"]].enableStatistics(
        described["names"], {"type": "sst.AccumulatorStatistic"}
    )
