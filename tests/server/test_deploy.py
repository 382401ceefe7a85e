"""What is given to put the server into service with: unit, container file, web servers, and the list of its parts."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from manyveils.server.app import create_app

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "docs" / "deploy"
PASSWORD = "a long enough password"
NAME = "veils.example.org"
SLOW = pytest.mark.skipif(
    not os.environ.get("MANYVEILS_TEST_DEPLOY"),
    reason="set MANYVEILS_TEST_DEPLOY=1 for what takes long, or fetches Debian's packages",
)


def test_options_of_the_unit_and_the_container():
    """Every option that unit and container file give to the server is one that it has."""
    from typer.testing import CliRunner

    from manyveils.cli.app import app

    said = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200"}).stdout
    for name in ("manyveils.service", "Containerfile"):
        text = (DEPLOY / name).read_text()
        given = re.findall(r"(?:^ExecStart=.*|^CMD .*)$", text, re.MULTILINE)
        assert given
        for option in re.findall(r"--[a-z-]+", " ".join(given)):
            assert option in said, option
        for variable in re.findall(r"MANYVEILS_[A-Z_]+", text):
            assert variable in said, variable


def test_the_container_is_not_root():
    """The container's last stage runs as a user by number, without a secret in it."""
    text = (DEPLOY / "Containerfile").read_text()
    last = text[text.rindex("\nFROM ") :]
    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert last.index("USER") < last.index("ENTRYPOINT")
    for line in re.findall(r"^COPY ((?!--from).*)$", text, re.MULTILINE):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists(), source


@SLOW
def test_the_container_files():
    """A linter finds nothing in the container files."""
    linter = ROOT / ".venv-tools" / "bin" / "hadolint"
    for path in (DEPLOY / "Containerfile", ROOT / "Containerfile"):
        done = subprocess.run([linter, path], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_units(tmp_path):
    """Systemd takes the units as they are, and finds the server's hardly exposed."""
    for name in ("manyveils-backup.service", "manyveils-backup.timer"):
        text = (DEPLOY / name).read_text().replace("/usr/local/sbin/veils", "/bin/true")
        (tmp_path / name).write_text(text)
        done = subprocess.run(["systemd-analyze", "verify", tmp_path / name], capture_output=True, text=True)
        assert "manyveils-backup" not in done.stderr, done.stderr
    unit = tmp_path / "manyveils.service"
    text = (DEPLOY / "manyveils.service").read_text()
    # The program and its user are not on this machine.
    text = text.replace("/opt/manyveils/bin/manyveils", sys.executable).replace("=manyveils\n", "=root\n")
    unit.write_text(text)
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True)
    assert str(unit.name) not in done.stderr, done.stderr
    safe = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(unit)],
        capture_output=True,
        text=True,
    )
    assert safe.returncode == 0, safe.stdout[-2000:]


def free_port():
    """A port that nobody has taken."""
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        return taken.getsockname()[1]


def certificate(folder):
    """A certificate for the server's name, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "fullchain.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "privkey.pem").write_bytes(plain)


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Web servers from Debian's packages, unpacked and not installed."""
    folder = tmp_path_factory.mktemp("debian")
    fetched = subprocess.run(
        ["apt-get", "download", "nginx", "caddy"], cwd=folder, capture_output=True, text=True
    )
    if fetched.returncode:
        pytest.skip(f"Debian's packages cannot be fetched: {fetched.stderr[-200:]}")
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, folder / "unpacked"], check=True)
    return folder / "unpacked"


def nginx(packages, folder, http, https, server):
    """The command that runs nginx with the example."""
    site = (DEPLOY / "nginx.conf").read_text().replace("/etc/ssl/veils", str(folder))
    site = site.replace("listen 80;", f"listen {http};").replace("listen 443", f"listen {https}")
    site = site.replace("127.0.0.1:8000", f"127.0.0.1:{server}")
    temporary = "\n".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = f"daemon off; user root; error_log stderr; pid {folder}/pid; events {{}}\nhttp {{ access_log off; {temporary}\n{site} }}"
    (folder / "nginx.conf").write_text(whole)
    return [packages / "usr/sbin/nginx", "-c", folder / "nginx.conf", "-p", folder]


def caddy(packages, folder, http, https, server):
    """The command that runs Caddy with the example."""
    site = (DEPLOY / "Caddyfile").read_text().replace("127.0.0.1:8000", f"127.0.0.1:{server}")
    own = f"\ttls {folder}/fullchain.pem {folder}/privkey.pem\n"
    site = site.replace(f"{NAME} {{\n", f"{NAME} {{\n{own}")
    options = f"{{\n\thttp_port {http}\n\thttps_port {https}\n\tadmin off\n}}\n"
    (folder / "Caddyfile").write_text(options + site)
    return [packages / "usr/bin/caddy", "run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"]


@contextmanager
def in_front(command, folder, https):
    """A web server that runs."""
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"], "XDG_DATA_HOME": str(folder)}
    process = subprocess.Popen(
        [str(word) for word in command], env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        end = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", https), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, process.stderr.read()
                assert time.monotonic() < end
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)


def through(folder, https, address="https"):
    """A browser that trusts the certificate and finds the name on this machine."""

    class ToThisMachine(httpx.HTTPTransport):
        def handle_request(self, request):
            request.extensions["sni_hostname"] = NAME
            request.url = request.url.copy_with(host="127.0.0.1")
            return super().handle_request(request)

    trust = ssl.create_default_context(cafile=folder / "fullchain.pem")
    return httpx.Client(
        base_url=f"{address}://{NAME}:{https}", transport=ToThisMachine(verify=trust), timeout=20
    )


@SLOW
@pytest.mark.parametrize("kind", [nginx, caddy])
def test_behind_a_web_server(packages, tmp_path, settings, house_of, serve, kind):
    """Through the example people log in over TLS, with cookies for TLS alone; who they are is not what they claim."""
    certificate(tmp_path)
    http, https = free_port(), free_port()
    app = create_app(replace(settings, behind_proxy=True, names=frozenset({NAME})))
    house = house_of(app)
    with (
        serve(app) as url,
        in_front(kind(packages, tmp_path, http, https, url.rsplit(":", 1)[1]), tmp_path, https),
    ):
        browser = through(tmp_path, https)
        assert browser.get("/").status_code == 200
        assert browser.get("/metrics").status_code == 404
        form = {"name": "owner", "password": PASSWORD}
        head = {"X-Forwarded-For": "9.9.9.9", "Sec-Fetch-Site": "same-origin"}
        entered = browser.post("/login", data=form, headers=head)
        assert entered.status_code == 303, entered.text
        assert "__Host-manyveils" in entered.headers["set-cookie"]
        assert "secure" in entered.headers["set-cookie"].lower()
        assert entered.headers["strict-transport-security"]
        assert house.log()[-1].details["address"] == "127.0.0.1"
        token = browser.post("/api/v1/token", json=form).json()["token"]
        files = {"policy": ("p.toml", b"x"), "data": ("d.csv", b"x" * 3_000_000)}
        sent = browser.post(
            "/api/v1/jobs", data={"title": "x"}, files=files, headers={"Authorization": f"Bearer {token}"}
        )
        assert sent.status_code == 422
        plain = through(tmp_path, http, "http").get("/")
        assert plain.status_code == 308
        assert plain.headers["location"].startswith(f"https://{NAME}")
