"""The line that shows how far a loop is.

Only a terminal gets one, and only while nobody else draws there: where the program shows a bar of tqdm, the line would break the bar, so
nothing is drawn while the bar lives, and the last state of the line is written above the bar.
"""
import sys

_WIDTH = 78


class Progress:
    """One line of a terminal that is drawn over and over. `wanted`: None (on a terminal), True or False."""

    def __init__(self, wanted=None, file=None):
        self._file = file if file is not None else sys.stderr
        self.shown = getattr(self._file, "isatty", bool)() if wanted is None else wanted

    def draw(self, line):
        """Replace the line."""
        if self.shown and _tqdm() is None:
            self._file.write(f"\r{line:<{_WIDTH}}")
            self._file.flush()

    def end(self, line):
        """Replace the line for the last time. What comes next stands below it."""
        if not self.shown:
            return
        tqdm = _tqdm()
        if tqdm is not None:
            tqdm.write(line, file=self._file)
        else:
            self._file.write(f"\r{line:<{_WIDTH}}\n")
            self._file.flush()


def _tqdm():
    """tqdm's class if the program uses it and has a bar on the screen; else None. It is not imported for the question."""
    tqdm = getattr(sys.modules.get("tqdm"), "tqdm", None)
    return tqdm if tqdm is not None and len(getattr(tqdm, "_instances", ())) > 0 else None
