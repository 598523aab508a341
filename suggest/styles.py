"""The output formats by name, so that ``--help`` lists them without loading what writes them."""

STYLES = (
    "yaml",
    "json",
    "pairs",
    "pairs-json",
    "markdown",
    "cell-mapping",
    "data-mapping",
    "api-mapping",
    "vis-config",
    "model-explorer",
)
BRIEF = ("yaml", "json")  # what names rules, and of modules only those without counterpart
