"""``python -m suggest`` is the ``layermap`` command."""

from .cli import main

if __name__ == "__main__":
    main()
