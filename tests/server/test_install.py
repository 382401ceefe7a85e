"""The installation of docs/server.md, followed as it is written, on a copy of this machine that is thrown away."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PASSWORD = "several quite unlikely words"
# What a machine has that runs; nobody is process 1 here, so that what the unit says is done by hand.
STANDS_FOR_SYSTEMD = r"""
systemctl() {
    case "$*" in
    "enable --now manyveils" | "start manyveils")
        start=$(sed -n "s/^ExecStart=//p" /etc/systemd/system/manyveils.service | sed "s| --export [^ ]*||")
        setsid veils $(echo "$start" | cut -d" " -f3-) > /tmp/said 2>&1 < /dev/null &
        for _ in $(seq 120); do curl --silent --fail http://127.0.0.1:8000/readyz && break; sleep 0.5; done ;;
    "stop manyveils") pkill -TERM -u manyveils manyveils; while pgrep -u manyveils manyveils; do sleep 0.2; done ;;
    "reload caddy") caddy validate --adapter caddyfile --config /etc/caddy/Caddyfile ;;
    "enable --now manyveils-backup.timer")
        sh -ec "$(sed -n "s/^ExecStart=.bin.sh -c '\(.*\)'/\1/p" /etc/systemd/system/manyveils-backup.service | sed "s/%%/%/")"
        ls /var/backups/manyveils/*.tar.gz ;;
    esac
}
"""
APART = r"""
set -eu
mount -t tmpfs tmpfs "$1"
mkdir "$1/changed" "$1/work" "$1/machine"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/changed,workdir=$1/work" "$1/machine"
mount --rbind /dev "$1/machine/dev"
mount -t proc proc "$1/machine/proc"
exec env -i PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root chroot "$1/machine" bash -euc "cd '$2'; $3"
"""


def blocks():
    """The commands of each step of the page."""
    page = (ROOT / "docs" / "server.md").read_text()
    steps = page[page.index("## Install it") : page.index("In a container, mount the folder")]
    return re.findall(r"```sh\n(.*?)```", steps, re.DOTALL)


@pytest.mark.skipif(
    not os.environ.get("MANYVEILS_TEST_DEPLOY"),
    reason="set MANYVEILS_TEST_DEPLOY=1: installs all packages anew",
)
@pytest.mark.skipif(os.geteuid() != 0, reason="needs to be root, to make a copy of the machine")
def test_the_page_as_written(tmp_path):
    """Whoever types what the page says, in an unpacked version, has a server, a copy that restores, and another key."""
    program, key, _postgresql, owner, *rest = blocks()
    assert "createdb" in _postgresql
    source = tmp_path / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".venv*", ".git", "site", "dist", ".*_cache"))
    (tmp_path / "apart").mkdir()
    owner = owner.replace("maria", f"maria --password-stdin <<< '{PASSWORD}'")
    script = tmp_path / "source" / "follow.sh"
    script.write_text(
        "\n".join(
            [
                "set -eux",
                STANDS_FOR_SYSTEMD,
                program,
                key,
                owner,
                *rest,
                "veils verify-log",
                "systemctl stop manyveils",
            ]
        )
    )
    done = subprocess.run(
        [
            "unshare",
            "--mount",
            "--pid",
            "--fork",
            "bash",
            "-c",
            APART,
            "apart",
            tmp_path / "apart",
            source,
            "bash follow.sh",
        ],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=900,
    )
    if "permission denied" in done.stderr and "mount" in done.stderr:
        pytest.skip("no copy of this machine can be made here")
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-3000:])
    assert "maria is an owner now" in done.stdout
    assert done.stdout.count("The log is whole") >= 3
