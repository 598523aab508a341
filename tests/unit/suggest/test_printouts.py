"""Printed models wherever they stand, and what is said where they are not whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from suggest.errors import ReadError
from suggest.read_text import read_text

INPUTS = Path(__file__).parent.parent.parent / "data" / "inputs"
PRINTED = ("tiny.print.txt", "meg.print.txt", "mindspore.print.txt", "mindspore.old.txt")

Lines = list[str]

WHOLE: dict[str, Callable[[Lines], Lines]] = {
    "alone": lambda model: model,
    "within a log": lambda model: ["INFO start", "    x = foo(", "    ^^^^^^", *model, "step 1 (lr): 3", "done )"],
    "a stamp on its first line": lambda model: [f"2024-05-06 10:11:12,123 INFO net: {model[0]}", *model[1:], "next"],
    "a stamp on every line": lambda model: [f"2024-05-06 10:11:{i % 60:02d} | {line}" for i, line in enumerate(model)],
    "a rank on every line": lambda model: [f"[rank0]:{line}" for line in model],
    "a rank, and a message before it": lambda model: [
        f"[rank0]: built {model[0]}",
        *(f"[rank0]: {line}" for line in model[1:]),
    ],
    "of a ray worker, coloured": lambda model: [f"\x1b[36m(TaskRunner pid=42)\x1b[0m {line}" for line in model],
    "coloured line by line": lambda model: [f"\x1b[32m{line}\x1b[0m" for line in model],
    "quoted": lambda model: [f"> {line}" for line in model],
    "quoted twice": lambda model: [f"> > {line}" for line in model],
    "from Windows": lambda model: [f"{line}\r" for line in model],
    "indented": lambda model: [f"    {line}" for line in model],
    "without its indentation": lambda model: [line.strip() for line in model],
    "assigned": lambda model: [f"model = {model[0]}", *model[1:]],
    "after tabs": lambda model: [f"INFO\t{line}" for line in model],
    "among lines of others": lambda model: [x for line in model for x in (line, "INFO another process is here")],
    "twice": lambda model: [*model, "INFO again", *model],
    "by two ranks": lambda model: [f"[rank{rank}]: {line}" for rank in (0, 1) for line in model],
}

BROKEN: dict[str, tuple[Callable[[Lines], Lines], str]] = {
    "cut off": (lambda model: model[: len(model) // 2], "the printed model is cut off: "),
    "cut off within a line": (lambda model: [*model[:9], model[9][:15]], "cut off|no line of a printed model"),
    "cut off, then whole": (lambda model: [*model[:6], "restart", *model], "the printed model is cut off: "),
    "without its beginning": (lambda model: model[3:], "is part of a printed model that begins earlier"),
    "closed twice": (lambda model: [*model, model[-1]], "closes a module that was never opened"),
    "interleaved line by line": (lambda model: [x for line in model for x in (line, line)], "ranks are interleaved"),
    "interleaved by prefix": (
        lambda model: [f"[rank{rank}]: {line}" for line in model for rank in (0, 1)],
        "ranks are interleaved",
    ),
    "one rank within another, by prefix": (
        lambda model: [
            *(f"[rank0]: {line}" for line in model[:7]),
            *(f"[rank1]: {line}" for line in model),
            *(f"[rank0]: {line}" for line in model[7:]),
        ],
        "ranks are interleaved",
    ),
    "one rank within another": (lambda model: [*model[:7], *model, *model[7:]], "ranks are interleaved"),
    "in turns": (lambda model: [*model[:9], *model[:12], *model[9:], *model[12:]], "ranks are interleaved"),
    "damaged": (lambda model: [*model[:4], "    (bro�ken): X()", *model[5:]], "no line of a printed model"),
}


@pytest.mark.parametrize("where", WHOLE)
@pytest.mark.parametrize("name", PRINTED)
def test_a_printout_is_found_wherever_it_stands(name: str, where: str) -> None:
    model = (INPUTS / name).read_text().splitlines()
    whole = read_text(model, "t")
    found = read_text(WHOLE[where](model), "t")
    assert found.tree == whole.tree
    assert [entry.scope for entry in found.entries] == [entry.scope for entry in whole.entries]


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize("name", PRINTED)
def test_a_printout_that_is_not_whole_is_an_error_with_its_line(name: str, what: str) -> None:
    change, message = BROKEN[what]
    with pytest.raises(ReadError, match=rf"^t:\d+: .*({message})"):
        read_text(change((INPUTS / name).read_text().splitlines()), "t")


ACTOR = ["Actor(", "  (fc): Linear(in_features=2, out_features=3, bias=True)", ")"]
CRITIC = ["Critic(", "  (head): Linear(in_features=3, out_features=1, bias=True)", ")"]


def test_of_several_models_the_first_is_read_and_the_others_are_named() -> None:
    source = read_text([*ACTOR, *CRITIC, *ACTOR], "t")
    assert source.tree.classes[0] == "Actor"
    (note,) = source.notes
    assert note.startswith("3 models are printed here, 1 Actor (line 1), 2 Critic (line 4), 3 Actor (line 7); the")
    assert note.endswith("the first is read, #2 asks for the next")


@pytest.mark.parametrize("part", ["2", "Critic"])
def test_one_of_several_models_can_be_asked_for(part: str) -> None:
    source = read_text([*ACTOR, *CRITIC], "t", part)
    assert (source.tree.classes[0], source.notes) == ("Critic", ())


def test_a_model_that_is_not_there_cannot_be_asked_for() -> None:
    with pytest.raises(ReadError, match=r"no printed model #9 in the text: there are 1 Actor \(line 1\), 2 Critic"):
        read_text([*ACTOR, *CRITIC], "t", "9")


def test_ranks_that_print_different_stages_are_merged() -> None:
    first = ["[rank0]: M(", "[rank0]:   (emb): Embedding(8, 4)", "[rank0]:   (body): B()", "[rank0]: )"]
    last = ["[rank1]: M(", "[rank1]:   (body): B()", "[rank1]:   (head): Linear()", "[rank1]: )"]
    source = read_text([*first, *last], "t")
    assert source.tree.paths == ("", "emb", "body", "head")
    assert source.notes == ("merged what ranks 0, 1 have printed",)


def test_parts_of_another_printout_are_noted() -> None:
    source = read_text(["  (lost): Linear(in_features=1, out_features=1)", *ACTOR], "t")
    assert source.notes[0].startswith("line 1 and 0 more are no part of a whole printed model: (lost): Linear(")


def test_source_text_that_looks_like_an_opening_is_no_model() -> None:
    with pytest.raises(ReadError, match="no module found in the text"):
        read_text(["x = call(", "  argument,", ")"], "t")
    assert read_text(["x = call(", "  argument,", *ACTOR], "t").tree.classes[0] == "Actor"


def test_a_list_of_chunks_is_numbered_in_a_log_too() -> None:
    lines = [
        "[rank0]: [" + ACTOR[0],
        f"[rank0]: {ACTOR[1]}",
        "[rank0]: ), Actor(",
        f"[rank0]: {ACTOR[1]}",
        "[rank0]: )]",
    ]
    assert read_text(lines, "t").tree.paths == ("", "0", "0.fc", "1", "1.fc")


def test_shapes_that_mindspore_prints_are_read() -> None:
    text = (
        "N(\n  (n): LayerNorm(normalized_shape=(8,), gammaParameter (name=a.n.gamma, shape=(8,), dtype=Float32))\n)\n"
    )
    assert read_text(text, "t").tree.params[1] == (("gamma", (8,)),)
