"""Everything of layermap that touches the world: readers, rule synthesis, replay, the command line."""
