"""The certificate is one page: what is promised, the verdict, and what may be learnt all the same."""

import json
import re


def test_certificate(hospital):
    """It stands beside the release, says the promises and the verdict, names the files by digest, and fetches nothing."""
    out = hospital.published()
    told = hospital.run(
        "report", out, "--policy", hospital.folder / "policy.toml", "--only", "linkage", "--certificate"
    )
    assert told.status == 0, told.said
    file = out.with_name("out.certificate.html")
    page = file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    assert "Every promise below is kept" in page
    assert "What is promised" in page
    assert re.search(r"<code>[0-9a-f]{32,}</code>", page)
    assert "http" not in page.replace("http-equiv", "")
    assert "<script" not in page
    rows = json.loads((out / "release.json").read_text())["rows"]
    assert f"{rows:,} rows published" in re.sub(r"<[^>]+>", "", page)


def test_not_public(hospital):
    """A certificate compares with the original, and does not go with --public."""
    out = hospital.published()
    refused = hospital.run("report", out, "--public", "--certificate")
    assert refused.status == 2
    assert "--certificate" in refused.stderr
