"""``layermap review --serve``: who may talk to it, what it saves, and when it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from suggest.mapping import load_mapping

from .test_cli import COMMAND, layermap

ROOT = Path(__file__).parent.parent.parent


@dataclass
class Served:
    process: subprocess.Popen[str]
    base: str
    token: str
    mapping: Path

    def ask(
        self, path: str, body: object = None, *, raw: bytes | None = None, sent: dict[str, str] | None = None
    ) -> tuple[int, str]:
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data)  # noqa: S310  our own server
        for name, value in (sent or {}).items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def own(self) -> dict[str, str]:
        return {"X-Layermap-Token": self.token}

    def start(self) -> dict[str, Any]:
        """What a page knows of the server when it is loaded."""
        status, page = self.ask(f"?token={self.token}")
        assert status == 200
        known: dict[str, Any] = json.loads(page.split('id="data">')[1].split("</script>")[0])["serve"]
        return known

    def save(
        self, known: dict[str, Any], *decisions: dict[str, Any], force: bool = False
    ) -> tuple[int, dict[str, Any]]:
        body = {"decisions": decisions, "start": known["start"], "revision": known["revision"], "force": force}
        status, text = self.ask("save", body, sent=self.own())
        return status, json.loads(text)


def reject(*nodes: str) -> dict[str, Any]:
    return {"kind": "reject", "nodes": list(nodes), "target": "", "here": False}


@pytest.fixture
def served(examples: Path, tmp_path: Path) -> Iterator[Served]:
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(layermap("suggest", "-q", examples / "npu.json", examples / "gpu.json").stdout)
    command = [*COMMAND, "review", "--serve", str(examples / "npu.json"), str(examples / "gpu.json"), str(mapping)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    base, _, token = address.partition("?token=")
    yield Served(process, base, token, mapping)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)


def test_saving_writes_the_file_and_keeps_the_old_one(served: Served) -> None:
    before = served.mapping.read_text()
    known = served.start()
    status, found = served.save(known, reject("module.module.language_model.encoder.final_norm"))
    assert status == 200
    assert served.mapping.read_text() == found["text"]
    assert 'final_norm_no_counterpart"' in found["text"]
    assert (served.mapping.parent / "mapping.yaml.bak").read_text() == before
    assert not load_mapping(found["text"], "m").problems
    known["revision"] = found["revision"]
    status, found = served.save(known)
    assert status == 200
    assert (served.mapping.parent / "mapping.yaml.bak").read_text() == before, "its own saves are no backup"
    assert sorted(path.name for path in served.mapping.parent.iterdir()) == ["mapping.yaml", "mapping.yaml.bak"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Layermap-Token": "guess"},
        {"X-Layermap-Token": "TOKEN", "Host": "evil.example"},
        {"X-Layermap-Token": "TOKEN", "Host": "127.0.0.1"},
        {"X-Layermap-Token": "TOKEN", "Origin": "http://evil.example"},
        {"X-Layermap-Token": "TOKEN", "Origin": "null"},
    ],
)
def test_wrong_tokens_hosts_and_origins_are_refused(served: Served, headers: dict[str, str]) -> None:
    known = served.start()
    before = served.mapping.read_text()
    sent = {name: value.replace("TOKEN", served.token) for name, value in headers.items()}
    body = {"decisions": [], "start": known["start"], "revision": known["revision"], "force": True}
    assert served.ask("save", body, sent=sent)[0] == 403
    assert served.ask("", sent=sent)[0] == 403
    assert served.ask("alive", sent=sent)[0] == 403
    assert served.mapping.read_text() == before


def test_nothing_else_can_be_read_or_written(served: Served) -> None:
    known = served.start()
    for path in ("etc/passwd", "..%2f..%2fetc/passwd", "mapping.yaml", "page/main.js"):
        assert served.ask(path, sent=served.own())[0] == 404
    outside = served.mapping.parent.parent / "outside.yaml"
    body = {"decisions": [], "file": str(outside), "name": str(outside), **known}
    assert served.ask(f"save?file={outside}", body, sent=served.own())[0] == 200
    assert not outside.exists()
    assert served.ask("other", {}, sent=served.own())[0] == 404
    for raw in (b"", b"[]", b"{", b'{"start": 1}', b"\xff"):
        assert served.ask("save", raw=raw, sent=served.own())[0] == 400
    status, found = served.save(served.start(), {"kind": "explode", "nodes": ["a"]})
    assert (status, found["error"]) == (400, "decisions: not a list of decisions; reload the page")
    assert {path.name for path in served.mapping.parent.iterdir()} <= {"mapping.yaml", "mapping.yaml.bak"}


def test_two_pages_do_not_lose_each_others_work_silently(served: Served) -> None:
    one, other = served.start(), served.start()
    status, found = served.save(one, reject("module.module.language_model.encoder.final_norm"))
    assert status == 200
    assert served.save(other)[0] == 409
    assert served.mapping.read_text() == found["text"]
    status, again = served.save(other, force=True)
    assert status == 200
    assert served.mapping.read_text() == again["text"] != found["text"]
    assert (served.mapping.parent / "mapping.yaml.bak").read_text() == found["text"]


def test_a_change_by_an_editor_is_noticed_too(served: Served) -> None:
    known = served.start()
    served.mapping.write_text(served.mapping.read_text() + "# by hand\n")
    assert served.save(known)[0] == 409
    assert served.save(served.start())[0] == 200
    assert served.mapping.read_text().endswith("# by hand\n")


def test_it_ends_when_the_last_page_is_closed(served: Served) -> None:
    request = urllib.request.Request(served.base + "alive", headers={"X-Layermap-Token": served.token})  # noqa: S310
    with urllib.request.urlopen(request, timeout=30) as page:  # noqa: S310
        assert page.read(1) == b"."
        assert served.process.poll() is None
    assert served.process.wait(timeout=20) == 0


def test_it_ends_with_ctrl_c(served: Served) -> None:
    served.start()
    os.kill(served.process.pid, signal.SIGINT)
    assert served.process.wait(timeout=20) == 0
    assert served.process.stderr is not None
    assert "Traceback" not in served.process.stderr.read()


def test_it_listens_on_the_loopback_address_only(served: Served) -> None:
    assert urlsplit(served.base).hostname == "127.0.0.1"
    port = urlsplit(served.base).port
    assert port is not None
    listening = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    assert next(address for address in listening if address.endswith(f":{port:04X}")) == f"0100007F:{port:04X}"


def test_serving_needs_a_file_and_a_readable_one(examples: Path, tmp_path: Path) -> None:
    sides = (examples / "npu.json", examples / "gpu.json")
    assert "--serve needs a file to save to" in layermap("review", "--serve", *sides).stderr
    (tmp_path / "m.yaml").write_text("TopLayer:\n  0: 1\n")
    run = layermap("review", "--serve", *sides, tmp_path / "m.yaml")
    assert (run.returncode, run.stdout) == (2, "")
    assert "m.yaml:2: key 0 of section TopLayer is no string" in run.stderr


def test_an_occupied_port_is_an_error_of_one_line(examples: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        sides = [str(examples / "npu.json"), str(examples / "gpu.json")]
        goal = ["-o", str(tmp_path / "m.yaml"), "--port", str(port)]
        run = subprocess.run(
            [sys.executable, "-m", "suggest", "review", "--serve", *sides, *goal],
            check=False,
            capture_output=True,
            text=True,
        )
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.endswith(f"127.0.0.1:{port}: Address already in use; choose another --port\n")
