"""Results in files: whole, in place, and never where the user has said not to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from suggest.errors import LayermapError
from suggest.output import write


def test_a_dash_is_standard_output(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write("text\n", "-")
    assert capsys.readouterr().out == "text\n"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    place, link = tmp_path / "real.yaml", tmp_path / "link.yaml"
    place.write_text("old")
    place.chmod(0o640)
    link.symlink_to(place.name)
    write("new", str(link))
    assert link.is_symlink()
    assert place.read_text() == "new"
    assert place.stat().st_mode & 0o777 == 0o640
    place.unlink()
    write("newer", str(link))
    assert place.read_text() == "newer"


def test_a_read_only_file_stays_as_it_is(tmp_path: Path) -> None:
    place = tmp_path / "m.yaml"
    place.write_text("old")
    place.chmod(0o444)
    with pytest.raises(LayermapError, match="the file is read-only"):
        write("new", str(place))
    assert place.read_text() == "old"
    assert os.listdir(tmp_path) == ["m.yaml"]  # noqa: PTH208  names are all that counts


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write("text", str(pipe))
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", [".", "no/such/folder/m.yaml", "a\0b", "loop"])
def test_what_cannot_be_written_is_an_error_of_ours(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(LayermapError):
        write("text", str(tmp_path / name))
    assert os.listdir(tmp_path) == ["loop"]  # noqa: PTH208  names are all that counts
