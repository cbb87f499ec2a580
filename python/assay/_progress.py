"""The progress line of a loop.

It is drawn only on a terminal. If the program shows a bar of tqdm, the line would break the bar. So nothing is drawn while there is a bar, and
the last state of the line is written above the bar.
"""
import sys

_WIDTH = 78


class Progress:
    """One line of a terminal that is redrawn in place. `wanted` is True, False, or None for a line only on a terminal."""

    def __init__(self, wanted=None, file=None):
        self._file = file if file is not None else sys.stderr
        self.shown = getattr(self._file, "isatty", bool)() if wanted is None else wanted

    def draw(self, line):
        """Replace the line."""
        if self.shown and _tqdm() is None:
            self._file.write(f"\r{line:<{_WIDTH}}")
            self._file.flush()

    def end(self, line):
        """Replace the line for the last time. Later output comes below it."""
        if not self.shown:
            return
        tqdm = _tqdm()
        if tqdm is not None:
            tqdm.write(line, file=self._file)
        else:
            self._file.write(f"\r{line:<{_WIDTH}}\n")
            self._file.flush()


def _tqdm():
    """The class of tqdm if the program has a bar on the screen, otherwise None. This function does not import tqdm."""
    tqdm = getattr(sys.modules.get("tqdm"), "tqdm", None)
    return tqdm if tqdm is not None and len(getattr(tqdm, "_instances", ())) > 0 else None
