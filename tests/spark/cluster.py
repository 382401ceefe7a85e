"""A publication on a cluster of processes, from which an executor is taken in the middle of a stage.

Run as a script: `cluster.py WAY FOLDER [STAGE]`, since a process holds one cluster at most.
It publishes, audits again, and prints what it found as one line of JSON.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from manyveils.datasets import hospital, hospital_policy
from manyveils.errors import ManyveilsError
from manyveils.run import audit, publish_to

MASTER = "local-cluster[2,1,1024]"
WAYS = {
    "full-domain": ({"method": "generalize", "suppression": 0.02}, {"k": 2}),
    "anatomize": ({"method": "anatomize"}, {"l": 2, "l_kind": "frequency"}),
    "slice": ({"method": "slice", "columns": 3}, {"l": 2, "l_kind": "frequency"}),
}
N_ROWS = 400
EXECUTOR = "CoarseGrainedExecutorBackend"


def policy_of(way):
    """The hospital's policy with a method and a promise that it keeps."""
    publish, guarantee = WAYS[way]
    return hospital_policy().replaced(publish=publish, guarantee=guarantee)


def executors():
    """The executors that this process has started, as numbers of processes."""
    parents, commands = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                status = (folder / "stat").read_text().rsplit(")", 1)[1].split()
                commands[int(folder.name)] = (folder / "cmdline").read_bytes().decode(errors="replace")
                parents[int(folder.name)] = int(status[1])
            except (OSError, IndexError):
                continue
    return sorted(one for one, said in commands.items() if EXECUTOR in said and _is_ours(one, parents))


def _is_ours(process, parents):
    while process in parents:
        if process == os.getpid():
            return True
        process = parents[process]
    return False


class Killer:
    """Takes an executor away as soon as a task of the named stage of the trail is running."""

    def __init__(self, stage):
        self.stage, self.now, self.killed = stage, "", []

    def told(self, step, share):
        """Hear from the trail what is being done."""
        self.now = step

    def watch(self, tracker):
        """Wait for the moment."""
        while not self.killed:
            active = [tracker.getStageInfo(each) for each in tracker.getActiveStageIds()]
            running = any(each is not None and each.numActiveTasks for each in active)
            found = executors() if running and self.now == self.stage else []
            if found:
                os.kill(found[0], signal.SIGKILL)
                self.killed.append(self.now)
            time.sleep(0.002)


def main(way, folder, stage=""):
    """Publish in the way into the folder, then audit it; without an executor from the stage on."""
    from manyveils.spark.session import session

    spark = session(MASTER)
    killer, policy = Killer(stage), policy_of(way)
    rows = spark.createDataFrame(hospital(n=N_ROWS).to_arrow()).repartition(4)
    if stage:
        threading.Thread(target=killer.watch, args=[spark.sparkContext.statusTracker()], daemon=True).start()
    refused, kept = "", None
    try:
        publish_to(policy, Path(folder), data=rows, seed=1, progress=killer.told)
        kept = audit(Path(folder), rows, policy, progress=killer.told).kept
    except ManyveilsError as error:
        refused = f"{type(error).__name__}: {error}"
    print(json.dumps({"killed": killer.killed, "refused": refused, "kept": kept, "executors": len(executors())}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
