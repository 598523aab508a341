"""``python -m suggest`` is the ``layermap`` command; an interrupt while it is still loading ends it quietly too."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def run() -> None:
    """The command."""
    try:
        from .cli import main  # noqa: PLC0415  whatever it loads may be interrupted

        main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    run()
