"""The review as one HTML file: no network, no build step, opens from disk.

Everything is inlined. Names of modules are data: JSON in which no ``<`` is left, set as text by the page. The content
security policy allows only the script and the style that were written here, by their hashes, and no request at all
(with the server, only to itself), so that even markup in a name that found a way in would do nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

ENGINE = ("scopes.js", "replay.js", "document.js", "decisions.js", "engine.js")
SCRIPTS = (*ENGINE, "state.js", "rows.js", "model.js", "dom.js", "detail.js", "view.js", "main.js")


def review_page(data: Mapping[str, Any], serve: Mapping[str, str] | None = None) -> str:
    """The page for this data; ``serve`` is what a page from the server knows besides."""
    home = files("suggest") / "page"
    script = scripts(SCRIPTS)
    style = (home / "review.css").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; base-uri 'none';"
        f" form-action 'none'; connect-src {_quoted('self' if serve else 'none')}"
    )
    text = json.dumps({**data, "serve": serve}, separators=(",", ":")).replace("<", "\\u003c")
    parts = {"POLICY": policy, "STYLE": style, "DATA": text, "SCRIPT": script}
    page = (home / "review.html").read_text(encoding="utf-8")
    return re.sub(r"\$([A-Z]+)", lambda found: parts[found[1]], page)


def scripts(names: Iterable[str]) -> str:
    """These files of the page as one script."""
    home = files("suggest") / "page"
    return "\n".join((home / name).read_text(encoding="utf-8") for name in names)


def _quoted(word: str) -> str:
    return f"'{word}'"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
