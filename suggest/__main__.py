"""``python -m suggest`` is the ``layermap`` command."""

from .cli import main

main()
