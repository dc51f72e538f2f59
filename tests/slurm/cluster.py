"""A Slurm cluster of one node, this machine: munged, slurmctld and slurmd, without systemd.

    python tests/slurm/cluster.py start FOLDER
    python tests/slurm/cluster.py stop FOLDER

Needs root and Debian's packages `munge` and `slurm-wlm`. Everything is in FOLDER but for a link, /etc/slurm/slurm.conf,
because Snakemake's plugin takes SLURM_CONF out of the environment of a job's step. A machine that has a slurm.conf is
left alone.
"""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

CPUS, MEMORY_MB = 16, 8000
LINK = Path("/etc/slurm/slurm.conf")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=0
MinJobAge=600
KillWait=5
SlurmdTimeout=5
SchedulerParameters=sched_interval=1,batch_sched_delay=0,defer=0
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


def missing() -> str:
    """What keeps this machine from running a cluster; empty where nothing does."""
    if os.geteuid() != 0:
        return "a cluster of its own needs root"
    if LINK.exists():
        return f"this machine has a cluster already ({LINK})"
    absent = [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]
    return f"not installed: {', '.join(absent)} (Debian: apt-get install munge slurm-wlm)" if absent else ""


class Cluster:
    """A cluster in a folder; the daemons are children of nobody and end with `stop`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    @property
    def environment(self) -> dict[str, str]:
        """What programs need to talk to it."""
        return {"PATH": _path()}

    def start(self) -> None:
        """Start the three daemons and wait until the node takes jobs."""
        for name in ("state", "spool", "munge"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        host = socket.gethostname().partition(".")[0]
        ports = {"controller": _free_port(), "node": _free_port()}
        text = CONFIGURATION.format(folder=self.folder, host=host, cpus=CPUS, memory=MEMORY_MB, **ports)
        (self.folder / "slurm.conf").write_text(text)
        LINK.unlink(missing_ok=True)  # one that leads nowhere: the folder of a cluster that was not stopped
        LINK.symlink_to(self.folder / "slurm.conf")
        self._start_munge()
        self._daemon("slurmctld")
        self.start_node()
        self.wait_until_idle()

    def _start_munge(self) -> None:
        """The daemon that vouches for who asks; it insists on a user and on files of its own."""
        place, user = self.folder / "munge", pwd.getpwnam("munge")
        key = place / "key"
        if not key.exists():
            key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        for path in (place, key):
            os.chown(path, user.pw_uid, user.pw_gid)
        names = {"socket": "socket", "key-file": "key", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        options = [f"--{option}={place / name}" for option, name in names.items()]
        # --force: a folder under /tmp has a parent that others can write to.
        as_munge = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        subprocess.run(
            [*as_munge, "munged", "--force", *options],
            env={**os.environ, **self.environment},
            check=True,
            capture_output=True,
        )

    def _daemon(self, name: str, *options: str) -> None:
        with (self.folder / f"{name}.out").open("a") as out:
            subprocess.run(
                [name, *options], env={**os.environ, **self.environment}, check=True, stdout=out, stderr=out, timeout=60
            )

    def start_node(self) -> None:
        """Start slurmd, again after it was killed."""
        self._daemon("slurmd", "-N", socket.gethostname().partition(".")[0])

    def kill_node(self) -> None:
        """Kill slurmd as a crash would."""
        os.kill(self._pid("slurmd.pid"), signal.SIGKILL)

    def _pid(self, name: str) -> int:
        return int((self.folder / name).read_text())

    def ask(self, *command: str) -> str:
        """What one of Slurm's programs says."""
        done = subprocess.run(command, env={**os.environ, **self.environment}, capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else ""

    def wait_until_idle(self, seconds: float = 60) -> None:
        """Wait until the node takes jobs."""
        deadline = time.monotonic() + seconds
        while self.ask("sinfo", "--noheader", "--format=%T").strip() not in {"idle", "mixed", "allocated"}:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the node is not ready:\n{(self.folder / 'slurmctld.log').read_text()[-2000:]}")
            time.sleep(0.1)

    def stop(self) -> None:
        """End all jobs and daemons. Only processes that it started itself, by their ids."""
        self.ask("scancel", "--full", "--signal=KILL", "--partition=main")
        for name in ("slurmd.pid", "slurmctld.pid", "munge/pid"):
            with contextlib.suppress(OSError, ValueError):
                _end(self._pid(name))
        if LINK.is_symlink() and LINK.readlink() == self.folder / "slurm.conf":
            LINK.unlink()


def _end(pid: int, seconds: float = 10) -> None:
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + seconds
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.kill(pid, 0 if time.monotonic() < deadline else signal.SIGKILL)
            time.sleep(0.05)


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def main(arguments: Sequence[str]) -> None:
    """Start or stop a cluster from the command line."""
    if len(arguments) != 2 or arguments[0] not in {"start", "stop"}:
        sys.exit(__doc__)
    cluster = Cluster(Path(arguments[1]))
    if arguments[0] == "start":
        if reason := missing():
            sys.exit(reason)
        cluster.start()
    else:
        cluster.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
