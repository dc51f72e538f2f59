"""What the processes of a run share, on a network file system that two clients have mounted: GlusterFS on this machine.

Linux's own NFS needs a kernel module that test machines seldom have; server and clients of GlusterFS are programs. The
clients have no caches: with those of a volume as it is made (stat-prefetch, quick-read, io-cache, and the kernel's of
attributes) a client sees old content under a lock, and the run is refused as soon as one process reads of it.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SERVER = """\
volume disk
  type storage/posix
  option directory {folder}/disk
end-volume
volume locks
  type features/locks
  subvolumes disk
end-volume
volume server
  type protocol/server
  option transport-type tcp
  option transport.socket.bind-address 127.0.0.1
  option transport.socket.listen-port {port}
  option auth.addr.locks.allow *
  subvolumes locks
end-volume
"""
CLIENT = """\
volume client
  type protocol/client
  option transport-type tcp
  option remote-host 127.0.0.1
  option remote-port {port}
  option remote-subvolume locks
end-volume
"""


@pytest.fixture
def mounts(tmp_path: Path) -> Iterator[list[Path]]:
    """The same folder of a server, mounted twice."""
    if os.geteuid() != 0:
        pytest.skip("a mount needs root")
    absent = [name for name in ("glusterfsd", "glusterfs") if shutil.which(name) is None]
    if absent:
        pytest.skip(f"not installed: {', '.join(absent)} (Debian: apt-get install glusterfs-server glusterfs-client)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, text in (("server", SERVER), ("client", CLIENT)):
        (tmp_path / f"{name}.vol").write_text(text.format(folder=tmp_path, port=port))
    places = [tmp_path / name for name in ("login", "node")]
    for folder in (tmp_path / "disk", *places):
        folder.mkdir()
    log = ["--log-file", str(tmp_path / "log"), "--no-daemon"]
    started = [subprocess.Popen(["glusterfsd", "-f", str(tmp_path / "server.vol"), *log])]
    try:
        options = ["--attribute-timeout=0", "--entry-timeout=0", "-f", str(tmp_path / "client.vol")]
        started += [subprocess.Popen(["glusterfs", *options, *log, str(place)]) for place in places]
        deadline = time.monotonic() + 30
        while not all(place.is_mount() for place in places):
            assert time.monotonic() < deadline, (tmp_path / "log").read_text()
            time.sleep(0.1)
        yield places
    finally:
        for place in places:
            subprocess.run(["umount", "--lazy", place], check=False)
        for process in reversed(started):
            process.terminate()
            process.wait(timeout=20)


def test_cap_limits_and_verdicts_hold_over_two_clients(root: Path, mounts: list[Path]) -> None:
    (mounts[0] / "seen").write_text("by both")
    assert (mounts[1] / "seen").read_text() == "by both"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "tests/unit/test_shared_state.py"]
    done = subprocess.run(
        command,
        cwd=root,
        env=os.environ | {"RCWT_TEST_MOUNTS": ":".join(map(str, mounts))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    # Those that start other processes were run on it.
    assert len(list((mounts[0]).glob("test_*"))) >= 8
