"""steps(): measures a training loop: its epochs, its batches, and their rates."""
import time
import warnings

from . import _core
from ._format import digits
from ._log import log
from ._progress import Progress

_REDRAW_SECONDS = 0.1


class Steps:
    """Iterates over the batches of a loader and measures the loop. After the loop its attributes tell how fast the loop was."""

    def __init__(self, loader, epochs=1, *, monitor=None, progress=None, file=None):
        if not hasattr(loader, "__iter__") and not hasattr(loader, "__getitem__"):
            raise TypeError(f"steps() iterates over a loader, which {type(loader)} is not")
        if not isinstance(epochs, int) or epochs < 0:
            raise ValueError(f"epochs must be a whole number, not {epochs!r}")
        operation = _core.operation if monitor is None else monitor.operation
        self._epoch, self._load, self._batch = operation("epoch"), operation("load"), operation("batch")
        self._loader = loader
        self._epochs = epochs
        self._progress = Progress(progress, file)
        self.epochs = self.batches = 0
        self.samples = 0        # None after a batch that does not tell its number of samples
        self.seconds = 0.0

    @property
    def batches_per_second(self):
        """Batches per second; None before the first batch has ended."""
        return self.batches / self.seconds if self.batches and self.seconds > 0 else None

    @property
    def samples_per_second(self):
        """Samples per second; None if the batches do not tell their number of samples."""
        return self.samples / self.seconds if self.samples and self.seconds > 0 else None

    def __iter__(self):
        for epoch in range(1, self._epochs + 1):
            before = self.batches
            with self._epoch:
                try:
                    yield from self._batches(epoch)
                except GeneratorExit:               # the loop was left by break, which is not a failure
                    return
            self.epochs = epoch
            if self.batches == before > 0:
                warnings.warn(f"the loader, {type(self._loader)}, had no batch left for epoch {epoch}: give one that begins anew in "
                              "each epoch, such as a list", RuntimeWarning, stacklevel=2)

    def _batches(self, epoch):
        start, before = time.perf_counter(), self.seconds
        drawn = 0.0
        items = iter(self._loader)
        total = len(self._loader) if hasattr(self._loader, "__len__") else None
        number = 0
        try:
            while True:
                with self._load:
                    item = next(items, _END)
                if item is _END:
                    break
                left = False
                with self._batch:
                    try:
                        yield item
                    except GeneratorExit:       # the loop was left by break, which is not a failure
                        left = True
                number += 1
                self._count(item, before + time.perf_counter() - start)
                if left:
                    return
                if self._progress.shown and time.perf_counter() - drawn > _REDRAW_SECONDS:
                    drawn = time.perf_counter()
                    self._progress.draw(self._line(epoch, number, total))
        finally:
            self.seconds = before + time.perf_counter() - start
            if number > 0:
                line = self._line(epoch, number, total)
                self._progress.end(line)
                log("debug" if self._progress.shown else "info", "%s", line)

    def _count(self, item, seconds):
        self.batches += 1
        self.seconds = seconds
        size = batch_size(item)
        self.samples = self.samples + size if size is not None and self.samples is not None else None

    def _line(self, epoch, number, total):
        of_epochs = f"/{self._epochs}" if self._epochs > 1 else ""
        of_batches = f"/{total}" if total is not None else ""
        rates = f"{digits(self.batches_per_second)} batches/s" if self.batches_per_second else ""
        if self.samples_per_second:
            rates += f", {digits(self.samples_per_second)} samples/s"
        return f"epoch {epoch}{of_epochs}  batch {number}{of_batches}  {rates}"

    def _repr_html_(self):
        from . import _html     # imported only when a notebook shows it
        figures = {"epochs": self.epochs, "batches": self.batches, "samples": self.samples, "time_seconds": self.seconds,
                   "batches a second": self.batches_per_second, "samples a second": self.samples_per_second}
        return _html.of_dictionary("steps", {key: "n/a" if value is None else value for key, value in figures.items()})


_END = object()


def batch_size(item):
    """The number of samples in a batch: the first dimension of the first tensor or sequence in it. None if there is none."""
    if isinstance(item, (str, bytes)) or item is None:
        return None
    if hasattr(item, "shape"):
        return int(item.shape[0]) if len(item.shape) > 0 else None
    if isinstance(item, dict):
        return next((size for size in map(batch_size, item.values()) if size is not None), None)
    if isinstance(item, (list, tuple)):
        tensors = [part for part in item if hasattr(part, "shape") or isinstance(part, (list, tuple, dict))]
        return batch_size(tensors[0]) if tensors else len(item)
    return None


def steps(loader, epochs=1, *, monitor=None, progress=None, file=None):
    """Iterate over the batches of a loader, and measure the loop:

        for batch in assay.steps(loader, epochs=3):
            train(batch)

    The spans are "epoch", and in it "load" (waiting for the loader) and "batch" (the body of the loop, with the spans in it). On a
    terminal a progress line shows batches and samples per second; progress=True or False shows it always or never. While a bar of
    tqdm is on the screen, the line is not drawn.
    """
    return Steps(loader, epochs, monitor=monitor, progress=progress, file=file)
