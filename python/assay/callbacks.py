"""Callbacks for the training loops of PyTorch Lightning, of Hugging Face's Trainer and of Keras.

    from assay.callbacks import LightningCallback           # after lightning itself was imported
    trainer = lightning.Trainer(callbacks=[LightningCallback(summary=True)])

    from assay.callbacks import TransformersCallback        # after transformers itself was imported
    trainer = transformers.Trainer(..., callbacks=[TransformersCallback()])

    from assay.callbacks import KerasCallback               # after keras itself was imported
    model.fit(data, callbacks=[KerasCallback()])

Each callback measures the same spans as assay.steps(): "epoch", and in it "load" (waiting for the data) and "batch". For PyTorch models it also
watches the modules, as assay.watch() does. This module does not import these packages. A callback is derived from the package's own class of
callbacks, so the program must have imported the package before.
"""
import sys

from . import _core, _torch
from ._watch import watch as _watch

__all__ = ["KerasCallback", "LightningCallback", "TransformersCallback"]


class _Loop:
    """The common base of the three callbacks. It knows which spans are open, and holds the watch."""

    def __init__(self, *, watch=True, monitor=None, summary=False, file=None, **options):
        """watch: whether to measure the modules of a PyTorch model; `options` are passed to assay.watch(). monitor: the monitor that receives the
        spans (default: the one of assay.track()). summary: print a summary to `file` when training ends."""
        super().__init__()
        self._wants_watch, self._options, self._summary, self._file = watch, options, summary, file
        self._monitor_used = monitor
        operation = _core.operation if monitor is None else monitor.operation
        self._operations = {name: operation(name) for name in ("training", "epoch", "load", "batch", "backward", "validation")}
        self._open = []
        self.watched = None

    def record(self):
        """The record of everything measured so far, with the model if it is watched."""
        if self.watched is not None:
            return self.watched.record()
        return (self._monitor_used if self._monitor_used is not None else _core.default_monitor()).record()

    def _begin(self, name):
        self._operations[name].__enter__()
        self._open.append(name)

    def _end(self, name, failed=None):
        """End the innermost span of this name and the spans in it. Does nothing if no such span is open."""
        if name in self._open:
            while True:
                last = self._open.pop()
                self._operations[last].__exit__(type(failed) if failed is not None else None, failed, None)
                if last == name:
                    break

    def _training_begins(self, model, optimizer=None):
        self._training_ends(quietly=True)       # ends a former training that an exception has left
        if self._wants_watch and _torch.is_module(model):
            self.watched = _watch(model, optimizer=optimizer, monitor=self._monitor_used, **self._options)
        self._begin("training")

    def _epoch_begins(self):
        self._end("epoch")
        self._begin("epoch")
        self._begin("load")

    def _batch_begins(self):
        self._end("load")
        self._end("batch")
        self._begin("batch")

    def _batch_ends(self):
        if "batch" in self._open:
            self._end("batch")
            self._begin("load")

    def _validation_begins(self):
        self._end("load")
        self._begin("validation")

    def _validation_ends(self):
        self._end("validation")
        if "epoch" in self._open and "batch" not in self._open:
            self._begin("load")

    def _training_ends(self, failed=None, quietly=False):
        self._end("training", failed)
        if self.watched is not None:
            self.watched.remove()
        if self._summary and not quietly:
            self.print_summary()

    def print_summary(self):
        """Print the summary of the model, or of the spans if no model is watched."""
        if self.watched is not None:
            self.watched.print_summary(self._file)
        else:
            monitor = self._monitor_used if self._monitor_used is not None else _core.default_monitor()
            monitor.print_summary(file=self._file)

    def _count(self, values):
        """Enter numbers, such as losses, as counters."""
        monitor = self._monitor_used if self._monitor_used is not None else _core.default_monitor()
        for name, value in (values or {}).items():
            try:
                monitor.count(name, float(value))
            except (TypeError, ValueError, RuntimeError):      # the value is a text or an array
                continue


class _Lightning(_Loop):
    """A callback of PyTorch Lightning."""

    def on_train_start(self, trainer, pl_module):
        """Training begins."""
        optimizers = getattr(trainer, "optimizers", None) or []
        self._training_begins(pl_module, [each for each in optimizers if hasattr(each, "param_groups")])

    def on_train_epoch_start(self, trainer, pl_module):
        """An epoch begins."""
        self._epoch_begins()

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx, *unused):
        """A batch was loaded."""
        self._batch_begins()

    def on_before_backward(self, trainer, pl_module, loss):
        """The loss is known, so the backward pass begins."""
        self._begin("backward")

    def on_after_backward(self, trainer, pl_module):
        """The gradients are known, so the backward pass has ended."""
        self._end("backward")

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, *unused):
        """A batch is done."""
        self._batch_ends()

    def on_validation_start(self, trainer, pl_module):
        """A validation begins."""
        self._validation_begins()

    def on_validation_end(self, trainer, pl_module):
        """A validation ends."""
        self._validation_ends()

    def on_train_epoch_end(self, trainer, pl_module, *unused):
        """An epoch ends."""
        self._end("epoch")

    def on_train_end(self, trainer, pl_module):
        """Training ends."""
        self._count(getattr(trainer, "callback_metrics", None))
        self._training_ends()

    def on_exception(self, trainer, pl_module, exception):
        """Training was ended by an exception."""
        self._training_ends(exception, quietly=True)


class _Transformers(_Loop):
    """A callback of Hugging Face's Trainer."""

    def on_train_begin(self, args, state, control, model=None, optimizer=None, **kwargs):
        """Training begins."""
        optimizer = getattr(optimizer, "optimizer", optimizer)      # Accelerate wraps the optimizer
        self._training_begins(model, optimizer if hasattr(optimizer, "param_groups") else None)

    def on_epoch_begin(self, args, state, control, **kwargs):
        """An epoch begins."""
        self._epoch_begins()

    def on_step_begin(self, args, state, control, **kwargs):
        """The first batch of a step was loaded."""
        self._batch_begins()

    def on_step_end(self, args, state, control, **kwargs):
        """The optimizer has made its step."""
        self._batch_ends()

    def on_log(self, args, state, control, logs=None, **kwargs):
        """Losses and learning rates are logged."""
        self._count(logs)

    def on_epoch_end(self, args, state, control, **kwargs):
        """An epoch ends."""
        self._end("epoch")

    def on_train_end(self, args, state, control, **kwargs):
        """Training ends."""
        self._training_ends()


class _Keras(_Loop):
    """A callback of Keras."""

    def on_train_begin(self, logs=None):
        """Training begins."""
        self._training_begins(getattr(self, "model", None))

    def on_epoch_begin(self, epoch, logs=None):
        """An epoch begins."""
        self._epoch_begins()

    def on_train_batch_begin(self, batch, logs=None):
        """A batch was loaded."""
        self._batch_begins()

    def on_train_batch_end(self, batch, logs=None):
        """A batch is done."""
        self._batch_ends()

    def on_test_begin(self, logs=None):
        """A validation begins."""
        self._validation_begins()

    def on_test_end(self, logs=None):
        """A validation ends."""
        self._validation_ends()

    def on_epoch_end(self, epoch, logs=None):
        """An epoch ends."""
        self._count(logs)
        self._end("epoch")

    def on_train_end(self, logs=None):
        """Training ends."""
        self._training_ends()


# For each callback: the class, the name of the package, and the modules that may hold the package's own class of callbacks.
_KINDS = {
    "LightningCallback": (_Lightning, "PyTorch Lightning", (("lightning.pytorch.callbacks", "Callback"), ("pytorch_lightning.callbacks", "Callback"))),
    "TransformersCallback": (_Transformers, "transformers", (("transformers.trainer_callback", "TrainerCallback"), ("transformers", "TrainerCallback"))),
    "KerasCallback": (_Keras, "Keras", (("keras.callbacks", "Callback"), ("tensorflow.keras.callbacks", "Callback"), ("tf_keras.callbacks", "Callback"))),
}
_made = {}


def __getattr__(name):
    if name not in _KINDS:
        raise AttributeError(f"module 'assay.callbacks' has no attribute {name!r}")
    kind, package, places = _KINDS[name]
    for place, attribute in places:
        base = getattr(sys.modules.get(place), attribute, None)
        if isinstance(base, type):
            if (name, base) not in _made:
                _made[name, base] = type(name, (kind, base), {"__doc__": kind.__doc__, "__module__": __name__})
            return _made[name, base]
    raise ImportError(f"assay.callbacks.{name} is derived from a class of {package}, which this program has not imported; import it first")
