"""Callbacks for the training loops of other packages, tested by stand-ins with the signatures of the real packages, which are not installed:
lightning.pytorch.callbacks.Callback (2.5), transformers.TrainerCallback (4.57), keras.callbacks.Callback (3.11)."""
import contextlib
import io
import sys
import types
import unittest

import assay
import assay.callbacks

try:
    import torch
    torch.set_num_threads(1)
except ImportError:
    torch = None


class LightningBase:
    """The hooks that the stand-in of the trainer calls, all of them with the arguments of the real ones."""

    state_key = "stand-in"

    def setup(self, trainer, pl_module, stage): pass
    def teardown(self, trainer, pl_module, stage): pass
    def on_fit_start(self, trainer, pl_module): pass
    def on_fit_end(self, trainer, pl_module): pass
    def on_train_start(self, trainer, pl_module): pass
    def on_train_end(self, trainer, pl_module): pass
    def on_train_epoch_start(self, trainer, pl_module): pass
    def on_train_epoch_end(self, trainer, pl_module): pass
    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx): pass
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx): pass
    def on_before_zero_grad(self, trainer, pl_module, optimizer): pass
    def on_before_backward(self, trainer, pl_module, loss): pass
    def on_after_backward(self, trainer, pl_module): pass
    def on_before_optimizer_step(self, trainer, pl_module, optimizer): pass
    def on_validation_start(self, trainer, pl_module): pass
    def on_validation_end(self, trainer, pl_module): pass
    def on_exception(self, trainer, pl_module, exception): pass


class LightningTrainer:
    def __init__(self, callbacks, epochs=2):
        self.callbacks, self.epochs, self.callback_metrics = callbacks, epochs, {"loss": 0.5}

    def call(self, hook, *args):
        for callback in self.callbacks:
            getattr(callback, hook)(self, self.module, *args)

    def fit(self, module, loader):
        self.module, self.optimizers = module, [module.configure_optimizers()]
        self.call("setup", "fit")
        self.call("on_fit_start")
        try:
            self.call("on_train_start")
            for _ in range(self.epochs):
                self.call("on_train_epoch_start")
                for index, batch in enumerate(loader):
                    self.call("on_train_batch_start", batch, index)
                    self.step(batch, index)
                    self.call("on_train_batch_end", {"loss": 0.0}, batch, index)
                self.call("on_validation_start")
                self.call("on_validation_end")
                self.call("on_train_epoch_end")
            self.call("on_train_end")
        except Exception as error:
            self.call("on_exception", error)
            raise
        self.call("on_fit_end")
        self.call("teardown", "fit")

    def step(self, batch, index):
        optimizer, = self.optimizers
        loss = self.module.training_step(batch, index)
        self.call("on_before_zero_grad", optimizer)
        optimizer.zero_grad()
        self.call("on_before_backward", loss)
        loss.backward()
        self.call("on_after_backward")
        self.call("on_before_optimizer_step", optimizer)
        optimizer.step()


EVENTS = """on_init_end on_train_begin on_train_end on_epoch_begin on_epoch_end on_step_begin on_pre_optimizer_step on_optimizer_step
            on_substep_end on_step_end on_evaluate on_save on_log on_prediction_step""".split()
TransformersBase = type("TrainerCallback", (), {event: lambda self, args, state, control, **kwargs: None for event in EVENTS})


class TransformersTrainer:
    def __init__(self, model, optimizer, callbacks):
        self.model, self.optimizer, self.callbacks = model, optimizer, callbacks
        self.event("on_init_end")

    def event(self, event, **kwargs):
        for callback in self.callbacks:
            result = getattr(callback, event)("args", "state", "control", model=self.model, processing_class=None, optimizer=self.optimizer,
                                              lr_scheduler=None, train_dataloader=None, eval_dataloader=None, **kwargs)
            assert result is None, "the real one takes it for a control"

    def train(self, loader):
        self.event("on_train_begin")
        self.event("on_epoch_begin")
        for batch in loader:
            self.event("on_step_begin")
            self.model(batch).sum().backward()
            self.event("on_pre_optimizer_step")
            self.optimizer.step()
            self.event("on_optimizer_step")
            self.event("on_step_end")
            self.event("on_log", logs={"loss": 0.25, "note": "text"})
        self.event("on_epoch_end")
        self.event("on_train_end")


class KerasBase:
    def __init__(self):
        self.params, self._model = None, None

    @property
    def model(self):
        return self._model

    def set_params(self, params):
        self.params = params

    def set_model(self, model):
        self._model = model

    def on_train_begin(self, logs=None): pass
    def on_train_end(self, logs=None): pass
    def on_epoch_begin(self, epoch, logs=None): pass
    def on_epoch_end(self, epoch, logs=None): pass
    def on_train_batch_begin(self, batch, logs=None): pass
    def on_train_batch_end(self, batch, logs=None): pass
    def on_test_begin(self, logs=None): pass
    def on_test_end(self, logs=None): pass


def keras_fit(callback, epochs=2, batches=3):
    callback.set_params({"epochs": epochs})
    callback.set_model(object())
    callback.on_train_begin()
    for epoch in range(epochs):
        callback.on_epoch_begin(epoch)
        for batch in range(batches):
            callback.on_train_batch_begin(batch)
            callback.on_train_batch_end(batch, {"loss": 1.0})
        callback.on_test_begin()
        callback.on_test_end()
        callback.on_epoch_end(epoch, {"loss": 1.0})
    callback.on_train_end()


@contextlib.contextmanager
def package(name, attribute, base):
    """A package of this name, imported by the program."""
    module = types.ModuleType(name)
    setattr(module, attribute, base)
    sys.modules[name] = module
    try:
        yield
    finally:
        del sys.modules[name]


def counts(record):
    operations, paths = record.to_dict()["operations"], []
    for operation in operations:
        parent = operation["parent"]
        paths.append((paths[parent] if parent is not None else ()) + (operation["name"],))
    return {"/".join(path): operation["count"] for path, operation in zip(paths, operations)}


class Callbacks(unittest.TestCase):
    def setUp(self):
        self.monitor = assay.Monitor(memory=False)
        self.addCleanup(self.monitor.close)

    def test_without_the_package_it_says_so(self):
        for name, words in (("LightningCallback", "PyTorch Lightning"), ("TransformersCallback", "transformers"), ("KerasCallback", "Keras")):
            with self.assertRaisesRegex(ImportError, f"{words}, which this program has not imported"):
                getattr(assay.callbacks, name)
        with self.assertRaises(AttributeError):
            assay.callbacks.Other

    def test_keras(self):
        with package("keras.callbacks", "Callback", KerasBase):
            callback = assay.callbacks.KerasCallback(monitor=self.monitor)
        self.assertIsInstance(callback, KerasBase)
        keras_fit(callback)
        found = counts(callback.record())
        self.assertEqual(found["training"], 1)
        self.assertEqual(found["training/epoch"], 2)
        self.assertEqual(found["training/epoch/batch"], 6)
        self.assertEqual(found["training/epoch/load"], 10)      # before each batch, before and after each validation
        self.assertEqual(found["training/epoch/validation"], 2)
        self.assertEqual(callback.record().to_dict()["counters"][0]["name"], "loss")

    def test_keras_after_an_exception(self):
        with package("keras.callbacks", "Callback", KerasBase):
            callback = assay.callbacks.KerasCallback(monitor=self.monitor)
        callback.set_model(object())
        callback.on_train_begin()
        callback.on_epoch_begin(0)
        callback.on_train_batch_begin(0)            # and then an exception left the loop
        keras_fit(callback)
        self.assertEqual(counts(callback.record())["training"], 2)
        self.assertEqual(callback.record().to_dict()["open_spans"], [])

    @unittest.skipUnless(torch, "no torch")
    def test_lightning(self):
        class Module(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())

            def training_step(self, batch, batch_idx):
                return self.net(batch).sum()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.1)
        for name in ("lightning.pytorch.callbacks", "pytorch_lightning.callbacks"):
            self.monitor.clear()
            file = io.StringIO()
            with package(name, "Callback", LightningBase):
                callback = assay.callbacks.LightningCallback(monitor=self.monitor, summary=True, file=file, flops=False, every=1)
            self.assertIsInstance(callback, LightningBase)
            module = Module()
            LightningTrainer([callback]).fit(module, [torch.randn(2, 4)] * 3)
            found = counts(callback.record())
            self.assertEqual(found["training/epoch/batch"], 6)
            self.assertEqual(found["training/epoch/batch/net.forward/net.0.forward"], 6)
            self.assertEqual(found["training/epoch/batch/backward"], 6)
            self.assertIn("loading data", file.getvalue())
            self.assertFalse(module.net[0]._forward_hooks)

    @unittest.skipUnless(torch, "no torch")
    def test_lightning_with_an_exception(self):
        class Module(torch.nn.Linear):
            def training_step(self, batch, batch_idx):
                raise ValueError("no")

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.1)
        with package("lightning.pytorch.callbacks", "Callback", LightningBase):
            callback = assay.callbacks.LightningCallback(monitor=self.monitor)
        with self.assertRaisesRegex(ValueError, "no"):
            LightningTrainer([callback]).fit(Module(2, 2), [1])
        record = self.monitor.record().to_dict()
        self.assertEqual(record["open_spans"], [])
        self.assertEqual({operation["name"]: operation.get("failed_spans", 0) for operation in record["operations"]}["batch"], 1)

    @unittest.skipUnless(torch, "no torch")
    def test_transformers(self):
        model = torch.nn.Sequential(torch.nn.Linear(4, 4))
        optimizer = torch.optim.Adam(model.parameters())
        with package("transformers.trainer_callback", "TrainerCallback", TransformersBase):
            callback = assay.callbacks.TransformersCallback(monitor=self.monitor, every=1)
        TransformersTrainer(model, optimizer, [callback]).train([torch.randn(2, 4)] * 4)
        found = counts(callback.record())
        self.assertEqual(found["training/epoch/batch"], 4)
        self.assertEqual(found["training/epoch/batch/Sequential.forward/0.forward"], 3)     # the first call was traced
        self.assertEqual(found["training/epoch/batch/Sequential.optimizer"], 4)
        self.assertEqual(callback.watched.total_flops()[0], 4 * (2 * 2 * 16 + 8))
        self.assertEqual(callback.watched.memory()["gradients"], 80)


if __name__ == "__main__":
    unittest.main()
