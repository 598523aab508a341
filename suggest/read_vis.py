"""Read either side of a comparison that msprobe has drawn: ``.vis`` (JSON, up to 8.1) and ``.vis.db`` (SQLite, 8.3 on).

A drawn graph holds the nodes of construct.json with the data of dump.json, so it tells what the dumps told: parents are
the ``upnode`` of a node, parameters stand among its inputs as ``<node>.parameters.<name>``. An API without any data was
not in dump.json, and a mapping does not apply to it, so it is left out. A graph that was built alone has the NPU side
only. SQLite is read through the standard library, a row at a time. Steps and ranks in one database are merged.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

from .errors import ReadError
from .read_dump import Contents, recording_of
from .recording import Merger, Recording, source_of
from .records import Records
from .source import LAYER_PREFIXES, Source
from .stream import JsonStream

SQLITE_MAGIC = b"SQLite format 3\0"
SIDES = {"npu": "NPU", "bench": "Bench"}
_MARK = ".parameters."
_HINT = "give the .vis.db file that msprobe graph_visualize wrote"
_COLUMNS = "step, rank, node_name, up_node, input_data, output_data"
_QUERY = f"select {_COLUMNS} from tb_nodes where data_source = ? order by step, rank, node_order"  # noqa: S608


class Drawing:
    """The nodes of one graph as they come in; asked for a `Recording` at the end."""

    def __init__(self) -> None:
        self._records = Records()
        self._parents: dict[str, str | None] = {}

    def add(self, name: str, parent: object, inputs: object, outputs: object) -> None:
        """One node; the frame that msprobe draws around everything, and its groups of APIs, are none."""
        if name.count(".") < 3:
            return
        if not (inputs or outputs) and not name.startswith(LAYER_PREFIXES):
            return
        parameters = _parameters(inputs) if isinstance(inputs, Mapping) else {}
        self._records.take(name, {"parameters": parameters, "output": _values(outputs)})
        self._parents[name] = parent if isinstance(parent, str) and parent.count(".") >= 3 else None

    def recording(self, where: str, label: str) -> Recording:
        """What was drawn, as msprobe had recorded it."""
        return recording_of(Contents(where=where, label=label, records=self._records, parents=self._parents))


def read_vis_db(place: Path, label: str, side: str) -> Source:
    """One side of a ``.vis.db``."""
    merger = Merger()
    drawn = ""
    try:
        with contextlib.closing(sqlite3.connect(f"{place.absolute().as_uri()}?mode=ro", uri=True)) as database:
            drawn = _drawn_side(database, SIDES[side], label)
            rows = database.execute(_QUERY, (drawn,))
            for (step, rank), nodes in groupby(rows, key=lambda row: row[:2]):
                drawing = Drawing()
                for _, _, name, parent, inputs, outputs in nodes:
                    drawing.add(name, parent, _cell(inputs, name, label), _cell(outputs, name, label))
                merger.add(drawing.recording(f"step{step}/rank{rank}", label))
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise ReadError(label, f"a SQLite file that is no result of msprobe, or damaged ({error})", _HINT) from None
    count = len(merger.wheres) + merger.equal
    notes = [f"merged {count} ranks and steps of the {drawn} side"] if count > 1 else []
    return merger.source(label, "msprobe graph", [*_alone(side, drawn), *notes])


def read_vis_nodes(stream: JsonStream) -> Drawing:
    """The object ``node`` of a ``.vis`` graph, at whose beginning the stream stands."""
    drawing = Drawing()
    for name in stream.members():
        node = stream.value()
        if isinstance(node, dict):
            drawing.add(name, node.get("upnode"), node.get("input_data"), node.get("output_data"))
    return drawing


def read_vis(drawings: Mapping[str, Drawing], label: str, side: str) -> Source:
    """One side of a ``.vis`` whose graphs have been read: "NPU" and "Bench", or "NPU" alone."""
    drawn = SIDES[side] if SIDES[side] in drawings else "NPU"
    if drawn not in drawings:
        raise ReadError(label, "no graph of the NPU side in this drawing", _HINT)
    recording = drawings[drawn].recording(drawn, label)
    return source_of(recording, label, "msprobe graph", _alone(side, drawn))


def _alone(side: str, drawn: str) -> Iterator[str]:
    if drawn != SIDES[side]:
        yield "the drawing has one graph only, which is read for the bench side"


def _drawn_side(database: sqlite3.Connection, wanted: str, label: str) -> str:
    sides = [row[0] for row in database.execute("select distinct data_source from tb_nodes")]
    if not sides:
        raise ReadError(label, "the result of msprobe holds no node", _HINT)
    return wanted if wanted in sides else "NPU"


def _cell(text: object, name: str, label: str) -> object:
    if not text:
        return {}
    try:
        return json.loads(str(text))
    except (json.JSONDecodeError, RecursionError):
        raise ReadError(
            f"{label}: {name}", "the data of this node is no JSON; the database is damaged", _HINT
        ) from None


def _values(outputs: object) -> list[object]:
    return list(outputs.values()) if isinstance(outputs, Mapping) else []


def _parameters(inputs: Mapping[str, object]) -> dict[str, object]:
    return {key.rpartition(_MARK)[2]: tensor for key, tensor in inputs.items() if _MARK in key}
