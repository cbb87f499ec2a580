"""The command line of `python3 -m assay run`."""
from typing import Optional, Sequence

HELP: str
PACKAGE: str

def command_of(arguments: Sequence[str]) -> Optional[list[str]]: ...
