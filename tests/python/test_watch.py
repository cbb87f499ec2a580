"""watch(): spans of a model's modules, forward and backward, FLOPs, and memory by use."""
import copy
import importlib.util
import io
import pickle
import subprocess
import sys
import threading
import types
import unittest
import warnings

import assay

try:
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint
    torch.set_num_threads(1)
except ImportError:
    torch = None


def tree(record):
    """{path of names: count} of a record's operations"""
    operations, paths = record.to_dict()["operations"], []
    for operation in operations:
        parent = operation["parent"]
        paths.append((paths[parent] if parent is not None else ()) + (operation["name"],))
    return {path: operation["count"] for path, operation in zip(paths, operations)}


@unittest.skipUnless(torch, "no torch")
class Watched(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.monitor = assay.Monitor(memory=False)
        self.addCleanup(self.monitor.close)

    def watch(self, model, **options):
        watched = assay.watch(model, monitor=self.monitor, **{"flops": False, "every": 1, **options})
        self.addCleanup(watched.remove)
        return watched

    def tree(self):
        return tree(self.monitor.record())


if torch:
    class Residual(nn.Module):
        def __init__(self, inplace=False):
            super().__init__()
            self.first, self.act, self.second = nn.Linear(8, 8), nn.ReLU(inplace=inplace), nn.Linear(8, 8)

        def forward(self, x):
            return x + self.second(self.act(self.first(x)))


class Spans(Watched):
    def test_forward_and_backward_of_every_module(self):
        model = nn.Sequential(nn.Linear(8, 8), Residual(), nn.Linear(8, 2))
        self.watch(model, name="net")
        for _ in range(3):
            model(torch.randn(4, 8)).sum().backward()
        parts = ("0", "1", "2", ("1", "1.first"), ("1", "1.act"), ("1", "1.second"))
        expected = {("net.forward",): 3, ("net.backward",): 3}
        for part in parts:
            path = (part,) if isinstance(part, str) else part
            for way in ("forward", "backward"):
                expected[(f"net.{way}", *(f"{name}.{way}" for name in path))] = 3
        self.assertEqual(self.tree(), expected)

    def test_depth(self):
        model = nn.Sequential(nn.ModuleList([Residual()])[0], nn.Linear(8, 2))
        self.watch(model, name="net", depth=1)
        model(torch.randn(4, 8))
        self.assertEqual(set(self.tree()), {("net.forward",), ("net.forward", "0.forward"), ("net.forward", "1.forward")})

    def test_results_are_unchanged(self):
        for inplace in (False, True):
            model = nn.Sequential(nn.Linear(8, 8), Residual(inplace), nn.Dropout(0.5), nn.Linear(8, 2))
            data = torch.randn(4, 8)

            def gradients():
                torch.manual_seed(2)
                model.zero_grad()
                model(data).pow(2).sum().backward()
                return [parameter.grad.clone() for parameter in model.parameters()]
            before = gradients()
            watched = self.watch(model, flops=True)
            for _ in range(3):                  # the first one is traced
                for plain, measured in zip(before, gradients()):
                    self.assertTrue(torch.equal(plain, measured))
            watched.remove()
            for plain, after in zip(before, gradients()):
                self.assertTrue(torch.equal(plain, after))

    def test_remove_leaves_nothing(self):
        model = Residual()
        output = None
        with self.watch(model):
            output = model(torch.randn(2, 8))
        output.sum().backward()                 # its graph knows the hooks
        model(torch.randn(2, 8))
        self.assertEqual(sum(self.tree().values()), 4)
        for part in model.modules():
            self.assertFalse(part._forward_hooks or part._forward_pre_hooks)

    def test_shared_module_is_counted_by_calls(self):
        shared = nn.Linear(8, 8)

        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = shared, shared

            def forward(self, x):
                return self.b(torch.tanh(self.a(x)))
        model = Twice()
        self.watch(model, name="net")
        model(torch.randn(2, 8)).sum().backward()
        self.assertEqual(self.tree(), {("net.forward",): 1, ("net.forward", "a.forward"): 2, ("net.backward",): 1,
                                       ("net.backward", "a.backward"): 2})

    def test_container_called_twice(self):
        block = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))

        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = block

            def forward(self, x):
                return self.block(self.block(x)) * 2
        model = Twice()
        self.watch(model, name="net")
        model(torch.randn(2, 8)).sum().backward()
        self.assertEqual(self.tree()[("net.backward", "block.backward")], 2)
        self.assertEqual(self.tree()[("net.backward", "block.backward", "block.0.backward")], 2)

    def test_tuples_and_dictionaries(self):
        class Outputs(nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm, self.out = nn.LSTM(8, 8, batch_first=True), nn.Linear(8, 8)

            def forward(self, x):
                _, (hidden, _) = self.lstm(x)       # the first output gets no gradient
                return {"answer": self.out(hidden[-1]), "none": None, "text": "x"}
        model = Outputs()
        self.watch(model, name="net")
        model(torch.randn(2, 3, 8))["answer"].sum().backward()
        for path in (("net.forward", "lstm.forward"), ("net.backward", "out.backward"), ("net.backward", "lstm.backward")):
            self.assertEqual(self.tree()[path], 1)

    def test_modules_that_return_their_input_have_no_backward(self):
        model = nn.Sequential(nn.Linear(8, 8), nn.Identity(), nn.Dropout(0.5), nn.Linear(8, 2)).eval()
        self.watch(model, name="net")
        model(torch.randn(2, 8)).sum().backward()
        backward = {path[-1] for path in self.tree() if path[0] == "net.backward"}
        self.assertEqual(backward, {"net.backward", "0.backward", "3.backward"})

    def test_exceptions_close_their_spans(self):
        class Fails(nn.Module):
            def forward(self, x):
                if x.shape[0] == 3:
                    raise ValueError("three")
                return x * 2
        model = nn.Sequential(nn.Linear(8, 8), Fails())
        for flops in (False, True):
            watched = self.watch(model, name="net", flops=flops)
            with self.assertRaisesRegex(ValueError, "three"):
                model(torch.randn(3, 8))
            for _ in range(2):
                model(torch.randn(2, 8)).sum().backward()
            with self.monitor.track("after"):
                pass
            watched.remove()
        record = self.monitor.record().to_dict()
        self.assertEqual(record["integrity"]["mismatched_ends"], 0)
        self.assertEqual(record["open_spans"], [])
        self.assertIn(("after",), self.tree())
        failed = {operation["name"]: operation.get("failed_spans", 0) for operation in record["operations"]}
        self.assertEqual(failed["net.forward"], 1)

    def test_exceptions_in_calls_of_one_shape(self):
        """The call after an exception stands where every other does, forward and backward, and FLOPs are those of a whole call."""
        class Fails(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear, self.calls = nn.Linear(8, 8, bias=False), 0

            def forward(self, x):
                self.calls += 1
                if self.calls in (1, 4):
                    raise ValueError("now")
                return self.linear(x)
        model = nn.Sequential(nn.Linear(8, 8, bias=False), Fails())
        watched = self.watch(model, name="net", flops=True)
        for _ in range(8):
            try:
                model(torch.randn(2, 8)).sum().backward()
            except ValueError:
                pass
        self.assertEqual(max(map(len, self.tree())), 3, self.tree())
        self.assertEqual(self.tree()[("net.backward",)], 5)
        self.assertEqual(self.tree()[("net.backward", "1.backward", "1.linear.backward")], 5)
        self.assertEqual(sum(figures[0] for figures in watched.flops("fvcore").values()), 2 * 2 * 8 * 8)
        self.assertEqual(watched.calls, 8)

    def test_exceptions_in_backward(self):
        """The passes after it end their spans, of this watch and of the next one, and so does a removal."""
        class Fails(torch.autograd.Function):
            @staticmethod
            def forward(context, x):
                return x * 1

            @staticmethod
            def backward(context, gradient):
                raise ValueError("in backward")

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second, self.fails = nn.Linear(8, 8), nn.Linear(8, 8), True

            def forward(self, x):
                x = self.first(x)
                return self.second(Fails.apply(x) if self.fails else x)

        def fail(model):
            model.fails = True
            with self.assertRaisesRegex(ValueError, "in backward"):
                model(torch.randn(2, 8)).sum().backward()
            model.fails = False
        model, other = Model(), nn.Sequential(nn.Linear(8, 8))
        watched = self.watch(model, name="net")
        fail(model)
        for _ in range(2):
            model(torch.randn(2, 8)).sum().backward()
            self.assertEqual(self.monitor.record().to_dict()["open_spans"], [])
        fail(model)
        self.watch(other, name="other")
        other(torch.randn(2, 8)).sum().backward()
        self.assertEqual(self.monitor.record().to_dict()["open_spans"], [])
        fail(model)
        watched.remove()
        with self.monitor.track("after"):
            pass
        found = self.tree()
        self.assertEqual(found[("net.backward",)], 5)
        self.assertEqual(found[("other.backward", "0.backward")], 1)
        self.assertEqual(found[("after",)], 1)
        failed = {operation["name"]: operation.get("failed_spans", 0) for operation in self.monitor.record().to_dict()["operations"]}
        self.assertEqual((failed["net.backward"], failed["first.backward"]), (3, 0))

    def test_interrupted_and_removed(self):
        """PyTorch calls no hook after Ctrl-C. What was open ends with the removal."""
        class Interrupted(nn.Module):
            def forward(self, x):
                raise KeyboardInterrupt
        model = nn.Sequential(nn.Linear(8, 8), Interrupted())
        with self.assertRaises(KeyboardInterrupt), self.watch(model, name="net"):
            model(torch.randn(2, 8))
        with self.monitor.track("after"):
            pass
        self.assertEqual(self.tree()[("after",)], 1)
        self.assertEqual(self.monitor.record().to_dict()["open_spans"], [])

    def test_a_tensor_that_is_modified_is_noticed(self):
        """PyTorch does not notice it when there are hooks of saved tensors, as in a traced call."""
        class Modifies(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)

            def forward(self, x):
                output = torch.sigmoid(self.linear(x))
                result = output * 2
                output.add_(1)
                return result
        model = Modifies()
        self.watch(model, flops=True)
        for _ in range(2):
            with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                model(torch.randn(2, 8)).sum().backward()

    def test_a_model_that_calls_itself(self):
        class Recursive(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)

            def forward(self, x, more=2):
                x = self.linear(x)
                return self(x, more - 1) if more else x
        model = Recursive()
        self.watch(model, name="net")
        for _ in range(2):
            model(torch.randn(2, 8)).sum().backward()
        self.assertEqual(self.tree()[("net.forward", "net.forward", "net.forward", "linear.forward")], 2)
        self.assertLess(max(map(len, self.tree())), 5, self.tree())

    def test_removed_in_the_middle_of_a_call(self):
        """The next watch of this thread begins at the root, and what was traced in part is not counted."""
        class Removes(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second, self.watched = nn.Linear(8, 8), nn.Linear(8, 8), None

            def forward(self, x):
                x = self.first(x)
                if self.watched is not None:
                    self.watched.remove()
                return self.second(x)
        for flops in (False, True):
            model = Removes()
            model.watched = self.watch(model, name="removed", flops=flops)
            model(torch.randn(2, 8)).sum().backward()
            self.assertIsNone(model.watched.flops())
            later = nn.Sequential(nn.Linear(8, 8))
            self.watch(later, name=f"later {flops}")
            later(torch.randn(2, 8)).sum().backward()
            self.assertEqual(self.tree()[(f"later {flops}.forward", "0.forward")], 1)
            self.assertEqual(self.tree()[(f"later {flops}.backward", "0.backward")], 1)

    def test_a_later_watch_has_its_own_figures(self):
        """Models of one class that are watched one after the other do not add up, nor does one that is watched again."""
        first, second = nn.Sequential(nn.Linear(8, 8)), nn.Sequential(nn.Linear(8, 8))
        for model, calls in ((first, 3), (second, 2), (first, 1)):
            with self.watch(model) as watched:
                for _ in range(calls):
                    model(torch.randn(2, 8)).sum().backward()
            self.assertEqual(watched.times()[watched.name]["calls"], calls)
            self.assertEqual(watched.times()["0"]["backward_calls"], calls)

    def test_a_second_watch_of_a_model_ends_the_first(self):
        model = nn.Sequential(nn.Sequential(nn.Linear(8, 8)))
        first = self.watch(model)
        model(torch.randn(2, 8)).sum().backward()
        with self.assertWarnsRegex(UserWarning, "the earlier watch .* has ended"):
            second = self.watch(model[0])
        model(torch.randn(2, 8)).sum().backward()
        self.assertEqual((first.times()[first.name]["calls"], second.times()[second.name]["calls"]), (1, 1))
        self.assertEqual(second.times()["0"]["backward_calls"], 1)
        self.assertNotIn("failed_spans", str(self.monitor.record().to_dict()["operations"]))

    def test_no_grad_and_checkpoints(self):
        class Checked(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.inner = nn.Linear(8, 8), nn.Sequential(nn.Linear(8, 8), nn.Tanh())

            def forward(self, x):
                return checkpoint(self.inner, self.first(x), use_reentrant=True)
        model = Checked()
        self.watch(model, name="net")
        model(torch.randn(2, 8)).sum().backward()
        found = self.tree()
        self.assertEqual(found[("net.backward",)], 1)
        self.assertEqual(found[("net.backward", "inner.forward")], 1)       # computed again
        self.assertEqual(found[("net.backward", "inner.backward")], 1)
        with torch.no_grad():
            model.first(torch.randn(2, 8))
        self.assertNotIn("open", str(self.monitor.record().to_dict()["open_spans"]))

    def test_copies_threads_and_pickles(self):
        model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2))
        self.watch(model, name="net")
        twin = copy.deepcopy(model)
        torch.nn.init.zeros_(twin[1].weight)
        torch.nn.init.zeros_(twin[1].bias)
        self.assertEqual(float(twin(torch.ones(1, 8)).abs().sum().detach()), 0.0)
        self.assertEqual(self.tree(), {})               # the copy is not the model
        restored = pickle.loads(pickle.dumps(model))
        data = torch.randn(2, 8)
        self.assertTrue(torch.equal(restored(data), model(data)))
        workers = [threading.Thread(target=lambda: model(data).sum().backward()) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(self.tree()[("net.forward", "0.forward")], 5)
        self.assertEqual(self.tree()[("net.backward", "0.backward")], 4)

    def test_threads_beside_a_traced_call(self):
        """Modes belong to a thread: a call in another one is counted and disturbs nothing, and a removal waits for the traced call."""
        class Waits(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear, self.entered, self.go = nn.Linear(8, 8, bias=False), threading.Event(), threading.Event()

            def forward(self, x):
                if x.shape[0] == 3:
                    self.entered.set()
                    self.go.wait(60)
                return self.linear(x)
        for removes in (False, True):
            model, failed = Waits(), []
            watched = self.watch(model, name=f"net {removes}", flops=True)

            def slow(model=model, failed=failed):
                try:
                    model(torch.randn(3, 8)).sum().backward()
                    model.go.clear()        # no mode is left in this thread
                    (torch.randn(2, 2) @ torch.randn(2, 2)).sum()
                except Exception as error:
                    failed.append(error)
            worker = threading.Thread(target=slow)
            worker.start()
            model.entered.wait(60)
            for _ in range(2):
                model(torch.randn(2, 8)).sum().backward()
            if removes:
                watched.remove()
            model.go.set()
            worker.join()
            self.assertEqual(failed, [])
            self.assertEqual((watched.calls, watched.flops("pytorch")["linear"][0]), (3, 2 * 3 * 64))
            self.assertEqual(bool(model._forward_hooks), not removes)

    def test_traced_by_torchscript(self):
        model, data = nn.Sequential(nn.Linear(8, 8), nn.ReLU()), torch.randn(2, 8)
        watched = self.watch(model, flops=True)
        model(data)
        with warnings.catch_warnings():
            warnings.simplefilter("error", torch.jit.TracerWarning)
            self.assertTrue(torch.equal(torch.jit.trace(model, data)(data), model(data)))
        self.assertLessEqual(len(watched._traces), 2)       # TorchScript checks its trace by a call without gradients

    def test_scripted_parts_are_leaves(self):
        model = nn.Sequential(torch.jit.script(nn.Sequential(nn.Linear(8, 8), nn.ReLU())), nn.Linear(8, 2))
        with self.assertWarnsRegex(UserWarning, "0 is compiled by TorchScript"):
            watched = self.watch(model, name="net")
        model(torch.randn(2, 8)).sum().backward()
        self.assertEqual(set(watched.modules), {"net", "1"})
        self.assertEqual(self.tree()[("net.backward", "1.backward")], 1)
        with self.assertRaisesRegex(TypeError, "TorchScript"):
            assay.watch(model[0])

    def test_two_models_of_one_class(self):
        first, second = nn.Sequential(nn.Linear(8, 8)), nn.Sequential(nn.Linear(8, 8))
        one, two = self.watch(first), self.watch(second)
        second(first(torch.randn(2, 8))).sum().backward()
        self.assertNotEqual(one.name, two.name)
        self.assertEqual(one.times()[one.name]["backward_calls"], 1)
        self.assertEqual(two.times()["0"]["calls"], 1)

    def test_short_calls_are_measured_in_bursts(self):
        kept = nn.Sequential(nn.Linear(2, 2))
        watched = self.watch(kept, name="kept", every=4)
        for _ in range(64):
            kept(torch.randn(1, 2))
        self.assertEqual(self.tree()[("kept.forward",)], 16)
        self.assertEqual(self.tree()[("kept.forward", "0.forward")], 16)
        self.assertEqual(self.tree()[("kept.forward (whole)",)], 48)
        self.assertEqual(watched.calls, 64)

    def test_closed_monitor_leaves_the_model_alone(self):
        model = nn.Sequential(nn.Linear(8, 8))
        self.watch(model)
        self.monitor.close()
        model(torch.randn(2, 8)).sum().backward()

    def test_optimizer_steps(self):
        model = nn.Sequential(nn.Linear(8, 8))
        optimizer = torch.optim.Adam(model.parameters())
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        watched = self.watch(model, name="net", optimizer=optimizer)
        model(torch.randn(2, 8)).sum().backward()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            optimizer.step()
            scheduler.step()
        watched.remove()
        optimizer.step()
        self.assertEqual(self.tree()[("net.optimizer",)], 1)

    def test_several_optimizers(self):
        model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
        optimizers = [torch.optim.SGD(model[0].parameters(), 0.1, momentum=0.9), torch.optim.SGD(model[1].parameters(), 0.1, momentum=0.9)]
        watched = self.watch(model, name="net", optimizer=optimizers)
        model(torch.randn(2, 8)).sum().backward()
        for optimizer in optimizers:
            optimizer.step()
        self.assertEqual(watched.memory()["optimizer_state"], 2 * 72 * 4)
        self.assertEqual(self.tree()[("net.optimizer",)], 2)
        watched.remove()
        optimizers[0].step()
        self.assertEqual(self.tree()[("net.optimizer",)], 2)
        with self.assertRaisesRegex(TypeError, "a list of them"):
            assay.watch(model, optimizer=[optimizers[0], None])

    def test_bad_arguments(self):
        with self.assertRaisesRegex(TypeError, "torch.nn.Module"):
            assay.watch(print)
        with self.assertRaisesRegex(ValueError, "depth"):
            assay.watch(nn.Linear(1, 1), depth=-1)
        with self.assertRaisesRegex(ValueError, "every"):
            assay.watch(nn.Linear(1, 1), every=0)
        with self.assertRaisesRegex(TypeError, "optimizer"):
            assay.watch(nn.Linear(1, 1), optimizer="adam")


class Flops(Watched):
    def count(self, model, *data, convention="assay", grad=True):
        watched = self.watch(model, flops=True)
        with torch.set_grad_enabled(grad):
            model(*data)
        self.watched = watched
        figures = watched.flops(convention).values()
        watched.remove()
        return tuple(sum(way) for way in zip(*figures))

    def test_linear_by_hand(self):
        model, data = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), torch.randn(5, 8)
        products = 2 * 5 * 8 * 16, 2 * 5 * 16 * 4
        biases, relu = 5 * 16 + 5 * 4, 5 * 16
        self.assertEqual(self.count(model, data), (sum(products) + biases + relu, products[0] + 2 * products[1] + biases + relu))
        self.assertEqual(self.count(model, data, convention="pytorch"), (sum(products), products[0] + 2 * products[1]))
        self.assertEqual(self.count(model, data, convention="fvcore")[0], sum(products) // 2)
        self.assertEqual(self.count(model, data, convention="deepspeed")[0], sum(products) + relu)
        self.assertEqual(self.count(model, data, grad=False)[1], 0)
        self.assertEqual(self.watched.not_counted["pytorch"], ["bias", "relu"])

    def test_lstm_by_hand(self):
        batch, time, width, hidden, layers = 3, 7, 5, 6, 2
        model, data = nn.LSTM(width, hidden, layers, batch_first=True), torch.randn(batch, time, width)
        rows = batch * time
        inputs = 2 * rows * 4 * hidden * width, 2 * rows * 4 * hidden * hidden
        state = 2 * rows * 4 * hidden * hidden
        cells = rows * hidden
        forward = sum(inputs) + 2 * state + layers * 21 * cells
        backward = inputs[0] + 2 * inputs[1] + 4 * state + layers * 34 * cells
        self.assertEqual(self.count(model, data), (forward, backward))
        self.assertEqual(self.count(model, data, convention="deepspeed")[0],
                         rows * (8 * hidden * (width + hidden) + 8 * hidden * (2 * hidden) + layers * 10 * hidden))
        packed = nn.utils.rnn.pack_padded_sequence(data, [7, 7, 7], batch_first=True)
        self.assertEqual(self.count(model, packed), (forward, backward))
        self.assertEqual(self.count(nn.LSTM(width, hidden, batch_first=True, bidirectional=True), data)[0],
                         2 * (inputs[0] + state + 21 * cells))

    def test_gru_and_cells(self):
        data = torch.randn(3, 7, 5)
        products = 2 * 21 * 18 * (5 + 6)
        self.assertEqual(self.count(nn.GRU(5, 6, batch_first=True), data, convention="pytorch")[0], products)
        self.assertEqual(self.count(nn.GRU(5, 6, batch_first=True), data)[0], products + 21 * 6 * (6 + 11))
        self.assertEqual(self.count(nn.LSTMCell(5, 6), torch.randn(3, 5))[0], 2 * 3 * 24 * 11 + 21 * 3 * 6)
        self.assertEqual(self.count(nn.RNN(5, 6), data)[0], 2 * 21 * 6 * 11 + 21 * 6 * 4)

    def test_convolutions_by_hand(self):
        data = torch.randn(2, 6, 10, 10)
        self.assertEqual(self.count(nn.Conv2d(6, 4, 3), data, convention="pytorch"), (2 * 2 * 64 * 4 * 54, 2 * 2 * 64 * 4 * 54))
        self.assertEqual(self.count(nn.Conv2d(6, 4, 3, groups=2), data, convention="pytorch")[0], 2 * 2 * 64 * 4 * 27)
        self.assertEqual(self.count(nn.ConvTranspose2d(6, 4, 3), data, convention="pytorch")[0], 2 * 2 * 100 * 6 * 36)

    def test_attention_and_norms(self):
        heads, rows, width = 4, 9, 32
        model, data = nn.MultiheadAttention(width, heads, batch_first=True), torch.randn(2, rows, width)
        projections = 2 * 2 * rows * width * 4 * width
        scores = 2 * 2 * 2 * rows * rows * width
        self.assertEqual(self.count(model, data, data, data, convention="pytorch")[0], projections + scores)
        self.assertEqual(self.count(nn.LayerNorm(8), torch.randn(4, 8)), (5 * 32, 9 * 32))
        self.assertEqual(self.count(nn.BatchNorm2d(3), torch.randn(2, 3, 4, 4))[0], 5 * 96)
        self.assertEqual(self.count(nn.Embedding(10, 8), torch.tensor([1, 2, 3])), (0, 24))

    def test_message_passing(self):
        class Passing(nn.Module):
            def __init__(self, how):
                super().__init__()
                self.linear, self.how = nn.Linear(8, 8, bias=False), how

            def forward(self, x, edges):
                messages = self.linear(x)[edges[0]]
                if self.how == "index_add":
                    return torch.zeros_like(x).index_add(0, edges[1], messages)
                return torch.zeros_like(x).scatter_add(0, edges[1][:, None].expand_as(messages), messages)
        edges, x = torch.randint(0, 6, (2, 20)), torch.randn(6, 8)
        for how in ("index_add", "scatter_add"):
            self.assertEqual(self.count(Passing(how), x, edges)[0], 2 * 6 * 64 + 20 * 8)

        class Sparse(nn.Module):
            def forward(self, a, x):
                return torch.sparse.mm(a, x)
        adjacency = torch.sparse_coo_tensor(torch.tensor([[0, 1, 2], [1, 2, 0]]), torch.ones(3), (6, 6)).coalesce()
        self.assertEqual(self.count(Sparse(), adjacency, x)[0], 2 * 3 * 8)

        class Right(nn.Module):
            def forward(self, x, a):
                return x @ a
        self.assertEqual(self.count(Right(), x.T.contiguous(), adjacency.to_sparse_csr(), convention="pytorch")[0], 2 * 3 * 8)

    def test_inference_mode_counts_as_no_grad_does(self):
        """In inference mode PyTorch does not split operations such as matmul before they are seen."""
        class Functions(nn.Module):
            def forward(self, x):
                x = torch.einsum("bij,bkj->bik", x, x) @ x
                x = torch.softmax(torch.nn.functional.layer_norm(x, x.shape[-1:]), dim=-1)
                return torch.linalg.multi_dot([x[0], x[0].T, x[0]]), torch.inner(x, x[0])
        sequence, image = torch.randn(2, 6, 16), torch.randn(2, 4, 9, 9)
        models = [(Functions(), sequence), (nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), sequence), (nn.LSTM(16, 8), sequence),
                  (nn.Sequential(nn.Conv1d(6, 4, 3), nn.GroupNorm(2, 4), nn.ConvTranspose1d(4, 2, 3)), sequence),
                  (nn.Conv1d(6, 4, 3), torch.randn(6, 16)),
                  (nn.Sequential(nn.Conv2d(4, 4, 3, groups=2), nn.BatchNorm2d(4), nn.ConvTranspose2d(4, 4, 3), nn.Upsample(scale_factor=2.0, mode="bilinear")), image)]
        for model, data in models:
            model.eval()
            found = []
            for context in (torch.no_grad, torch.inference_mode):
                watched = self.watch(model, flops=True)
                with context():
                    outputs = [model(data) for _ in range(2)]
                both = [output if isinstance(output, tuple) else (output,) for output in outputs]
                for first, second in zip(*both):
                    self.assertTrue(not torch.is_tensor(first) or torch.allclose(first, second, atol=1e-5))
                found.append([{way: sum(figures[0] for figures in watched.flops(way).values()) for way in ("assay", "pytorch", "fvcore", "deepspeed")},
                              watched.not_counted.get("every convention")])
                watched.remove()
            with self.subTest(str(model)):
                self.assertEqual(*found)

    def test_prices_of_fvcore_and_deepspeed(self):
        """What FlopCountAnalysis of fvcore and the flops profiler of DeepSpeed do with these calls."""
        class Function(nn.Module):
            def __init__(self, function):
                super().__init__()
                self.function = function

            def forward(self, *data):
                return self.function(*data)
        image, rows = torch.randn(2, 6, 10, 10), torch.randn(4, 8)
        conv, deconv = 2 * 2 * 64 * 4 * 54, 2 * 2 * 100 * 6 * 36
        cases = [("a bias of a convolution", nn.Conv2d(6, 4, 3), (image,), conv // 2, conv + 2 * 64 * 4),
                 ("and of a transposed one", nn.ConvTranspose2d(6, 4, 3), (image,), deconv // 2, deconv + 2 * 144 * 4),
                 ("a bias of a linear layer", nn.Linear(8, 3), (rows,), 4 * 8 * 3, 2 * 4 * 8 * 3),
                 ("addmm", Function(torch.addmm), (torch.randn(4, 3), rows, torch.randn(8, 3)), 4 * 8 * 3, 2 * 4 * 8 * 3 + 12),
                 ("addmm with a vector", Function(torch.addmm), (torch.randn(3), rows, torch.randn(8, 3)), 4 * 8 * 3, 2 * 4 * 8 * 3 + 3),
                 ("batch norm", nn.BatchNorm2d(6), (image,), 5 * 1200, 5 * 1200),
                 ("batch norm, not affine", nn.BatchNorm2d(6, affine=False), (image,), 4 * 1200, 4 * 1200),
                 ("batch norm, evaluated", nn.BatchNorm2d(6).eval(), (image,), 2 * 1200, 2 * 1200),
                 ("batch norm, evaluated and not affine", nn.BatchNorm2d(6, affine=False).eval(), (image,), 1200, 1200),
                 ("group norm", nn.GroupNorm(2, 6), (image,), 5 * 1200, 5 * 1200),
                 ("layer norm, not affine", nn.LayerNorm(8, elementwise_affine=False), (rows,), 4 * 32, 4 * 32),
                 ("SiLU", nn.SiLU(), (rows,), 0, 32), ("Mish", nn.Mish(), (rows,), 0, 32),
                 ("max pooling", nn.MaxPool2d(2), (image,), 0, 1200), ("mean pooling", nn.AvgPool2d(2), (image,), 0, 1200),
                 ("softmax", nn.Softmax(-1), (rows,), 0, 32)]
        step = 3 * 7
        for name, make, gates, alone, biased in (("LSTM", nn.LSTM, 4, 2, 10), ("GRU", nn.GRU, 3, 1, 7), ("RNN", nn.RNN, 1, -1, 1)):
            for bias, cell in ((True, biased), (False, alone)):
                products = step * gates * 6 * (5 + 6)
                cases.append((f"{name}, bias {bias}", make(5, 6, bias=bias), (torch.randn(3, 7, 5),), products, 2 * products + step * 6 * cell))
        attention = getattr(nn.functional, "scaled_dot_product_attention", None)
        if attention is not None:
            query, key = torch.randn(2, 4, 7, 8), torch.randn(2, 4, 9, 8)
            products = 2 * 8 * 7 * 9 * 8
            for drop in (0.0, 0.5):         # fused, and as single operations
                fused = Function(lambda q, k, v, drop=drop: attention(q, k, v, dropout_p=drop))
                cases.append((f"attention, dropout {drop}", fused, (query, key, key), products, 2 * products))
        for name, model, data, fvcore, deepspeed in cases:
            with self.subTest(name):
                self.assertEqual((self.count(model, *data, convention="fvcore")[0], self.count(model, *data, convention="deepspeed")[0]),
                                 (fvcore, deepspeed))

    def test_gradients_within_the_call(self):
        """A model of physics differentiates its output by its input. The products are counted, and what has no price is listed."""
        class Slope(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Sequential(nn.Linear(8, 16, bias=False), nn.Tanh(), nn.Linear(16, 1, bias=False))

            def forward(self, x):
                x = x.detach().requires_grad_()
                return torch.autograd.grad(self.inner(x).sum(), x, create_graph=True)[0]
        self.assertEqual(self.count(Slope(), torch.randn(4, 8), convention="pytorch")[0], 2 * (2 * 4 * 8 * 16 + 2 * 4 * 16))
        self.assertIn("tanh_backward", self.watched.not_counted["every convention"])

    def test_lists_of_tensors_are_seen(self):
        class Lists(nn.Module):
            def forward(self, x):
                return torch._foreach_add([x, x], [x, x])[0]
        self.count(Lists(), torch.randn(4, 8))
        self.assertEqual(self.watched.not_counted["every convention"], ["foreach_add"])

    def test_what_is_not_known_is_listed(self):
        class Odd(nn.Module):
            def forward(self, x):
                return torch.linalg.svdvals(x) + torch.fft.rfft(x).abs().sum()
        self.count(Odd(), torch.randn(4, 4))
        listed = self.watched.not_counted["every convention"]
        self.assertTrue(any("svd" in name for name in listed), listed)
        self.assertTrue(any("fft" in name for name in listed), listed)

    def test_parameters_that_the_first_call_makes(self):
        model = nn.Sequential(nn.Linear(8, 4), nn.LazyLinear(2))
        watched = self.watch(model, flops=True)
        for _ in range(3):
            model(torch.ones(5, 8)).sum().backward()
        self.assertEqual(watched.flops("pytorch"), {"0": (2 * 5 * 8 * 4, 2 * 5 * 8 * 4), "1": (2 * 5 * 4 * 2, 2 * 2 * 5 * 4 * 2)})
        out = io.StringIO()
        watched.print_summary(file=out)
        self.assertIn("2 of 3 calls", out.getvalue())

    def test_dropout_is_free_and_shapes_add_up(self):
        model = nn.Sequential(nn.Linear(8, 8, bias=False), nn.Dropout(0.5))
        watched = self.watch(model, flops=True)
        for rows in (4, 4, 4, 2):
            model(torch.randn(rows, 8))
        self.assertEqual(watched.total_flops()[0], 14 * 2 * 64)
        self.assertEqual(watched.calls, 4)

    def test_tensors_that_are_keywords_or_in_containers(self):
        """Each call counts with its own shapes, however its tensors are handed over."""
        class Batch:
            def __init__(self, x):
                self.inner = types.SimpleNamespace(x=x)

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8, bias=False)

            def forward(self, x=None, batch=None, factor=1):
                if batch is not None:
                    x = batch["x"] if isinstance(batch, dict) else batch[1][0] if isinstance(batch, list) else batch.inner.x
                return self.linear(x) * factor
        ways = (lambda model, x: model(x), lambda model, x: model(x=x), lambda model, x: model(None, {"x": x}),
                lambda model, x: model(batch=[None, (x,)]), lambda model, x: model(None, Batch(x), factor=2))
        for way in ways:
            model = Model()
            with assay.watch(model, monitor=self.monitor) as watched:
                for size in (1, 1, 100, 100, 100, 1):
                    way(model, torch.zeros(size, 8))
            self.assertEqual(watched.calls, 6)
            self.assertEqual(watched.total_flops("fvcore")[0], 303 * 8 * 8)

    def test_keywords_that_pytorch_gives(self):
        """PyTorch 2 gives them to the hook; here the hook is called as it does that."""
        model = nn.Linear(8, 8, bias=False)
        watched = self.watch(model, flops=True)
        hook = next(iter(model._forward_pre_hooks.values()))
        for size in (1, 1, 100):
            hook(model, (), {"input": torch.zeros(size, 8)})
            next(iter(model._forward_hooks.values()))(model, (), torch.zeros(size, 8))
        self.assertEqual((watched.calls, len(watched._traces)), (3, 2))

    def test_modules_have_their_own(self):
        model = nn.Sequential(Residual(), nn.Linear(8, 2))
        watched = self.watch(model, flops=True, name="net")
        model(torch.randn(4, 8))
        self.assertEqual(watched.flops("pytorch")["0.first"], (2 * 4 * 64, 2 * 4 * 64))
        self.assertEqual(watched.flops()["0"], (4 * 8, 4 * 8))
        entry = watched.record().to_dict()["models"][0]
        self.assertIn({"component": "1", "convention": "assay", "forward": 2 * 4 * 16 + 8, "backward": 4 * 4 * 16 + 8}, entry["flops"])


    def test_profile_counts_too(self):
        model = nn.Sequential(nn.Linear(8, 4), nn.Tanh())
        entry = assay.profile(model, torch.randn(2, 8), runs=3).to_dict()["models"][0]
        self.assertIn({"component": "0", "convention": "pytorch", "forward": 128, "backward": 128}, entry["flops"])
        self.assertEqual(entry["activation_bytes"], 4 * (16 + 8))
        self.assertEqual(entry["parameters"], 36)
        self.assertFalse(model._forward_hooks)


@unittest.skipUnless(torch and hasattr(torch, "func"), "this PyTorch has no torch.func: version 2.0 does")
class Transformed(Watched):
    """What models do with torch.func and torch.compile works in a traced call too, and gives what it gave before."""

    def same(self, model, data, **options):
        """The figures of a watch that did not change the model's outputs and gradients."""
        def outcome():
            model.zero_grad()
            output = model(data)
            if output.requires_grad:
                output.pow(2).sum().backward()
            return [output.detach(), *(parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None)]
        before = outcome()
        watched = self.watch(model, flops=True, **options)
        for _ in range(3):
            after = outcome()
            self.assertEqual(len(before), len(after))
            for plain, measured in zip(before, after):
                self.assertTrue(torch.allclose(plain, measured, atol=1e-5))
        return watched

    def test_differentiated_by_torch_func(self):
        class Jacobian(nn.Module):
            def __init__(self, how):
                super().__init__()
                self.inner, self.how = nn.Sequential(nn.Linear(8, 8, bias=False), nn.Tanh()), how

            def forward(self, x):
                if self.how == "grad":
                    return torch.func.grad(lambda x: self.inner(x).sum())(x)
                return torch.func.vmap(torch.func.jacrev(self.inner))(x)
        disable = torch.autograd.graph.disable_saved_tensors_hooks
        for how in ("grad", "jacrev"):
            watched = self.same(Jacobian(how), torch.randn(4, 8))
            self.assertGreaterEqual(sum(figures[0] for figures in watched.flops("pytorch").values()), 2 * 4 * 64)
            self.assertTrue(any("torch.func" in note for note in watched.notes()))
            watched.remove()
        self.assertIs(torch.autograd.graph.disable_saved_tensors_hooks, disable)

    @unittest.skipUnless(torch and hasattr(getattr(torch, "compiler", None), "set_stance"), "torch.compile cannot be told to rest: version 2.6 can")
    def test_compiled_functions(self):
        class Compiled(nn.Module):
            def __init__(self, **options):
                super().__init__()
                self.first, self.second = nn.Linear(8, 8, bias=False), nn.Linear(8, 8, bias=False)
                self.inner = torch.compile(self.plain, backend="eager", **options)

            def plain(self, x):
                return torch.tanh(self.first(x))

            def forward(self, x):
                return self.second(self.inner(x))
        for full in (False, True):
            torch._dynamo.reset()
            model = Compiled(fullgraph=full)
            watched = self.same(model, torch.randn(4, 8), name=f"net {full}")
            self.assertEqual(sum(figures[0] for figures in watched.flops("pytorch").values()), 2 * 2 * 4 * 64)
            self.assertEqual(watched.times()["second"]["calls"], 2)
            self.assertEqual(watched.times()["first"]["calls"], 0)      # part of the compiled function
            pickle.dumps(model.first)
            watched.remove()
        model = Compiled()
        for compiled, calls in ((torch.compile(model, backend="eager"), 0), (model, 1)):
            with self.watch(model, name=f"net {calls}", flops=True) as watched:
                compiled(torch.randn(4, 8))
                self.assertEqual((watched.calls, "no call was seen" in str(watched.notes())), (calls, calls == 0))

    @unittest.skipUnless(torch and hasattr(getattr(torch, "compiler", None), "set_stance"), "torch.compile cannot be told to rest: version 2.6 can")
    def test_the_compiler_is_not_there_yet(self):
        """The first call imports it. These tests have imported it, so another process makes that call."""
        program = """if True:
            import sys, torch, assay
            class Branches(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.inner = torch.nn.Linear(8, 8)
                def forward(self, x):
                    return torch.cond(x.sum() > 0, lambda x: self.inner(x), lambda x: torch.tanh(self.inner(x)), (x,))
            class Flexible(torch.nn.Module):
                def forward(self, x):
                    from torch.nn.attention.flex_attention import flex_attention
                    return flex_attention(x, x, x)
            if sys.argv[1] == "flexible":
                import torch.nn.attention.flex_attention
            model, x = (Branches(), torch.randn(4, 8)) if sys.argv[1] == "branches" else (Flexible(), torch.randn(1, 2, 16, 8))
            assert "torch._dynamo" not in sys.modules
            with assay.watch(model, every=1) as watched:
                for _ in range(3):
                    model(x)
            print(watched.calls)
            """
        for which in ("branches", "flexible"):
            if which == "flexible" and importlib.util.find_spec("torch.nn.attention.flex_attention") is None:
                continue
            done = subprocess.run([sys.executable, "-c", program, which], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, "3\n"), done.stderr)

    def test_threads(self):
        """Calls that are traced and calls that are not, in several threads, each with torch.func and a compiled function."""
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8, bias=False)

            def forward(self, x):
                return compiled(torch.func.grad(lambda x: torch.tanh(self.linear(x)).sum())(x))
        compiled, failed = torch.compile(torch.sin, backend="eager", fullgraph=True), []
        disable = torch.autograd.graph.disable_saved_tensors_hooks

        def work(number):
            try:
                for turn in range(10):
                    model, rows = Model(), 2 + turn % 4
                    with assay.watch(model, monitor=self.monitor, name=f"net {number} {turn}") as watched:
                        for _ in range(2):
                            model(torch.randn(rows, 8)).sum().backward()
                        self.assertEqual(sum(figures[0] for figures in watched.flops("pytorch").values()), 2 * 2 * rows * 64)
            except BaseException as error:
                failed.append(error)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        self.assertIs(torch.autograd.graph.disable_saved_tensors_hooks, disable)

    @unittest.skipUnless(torch and hasattr(torch, "cond"), "this PyTorch has no torch.cond")
    def test_operations_of_higher_order(self):
        class Branches(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Linear(8, 8, bias=False)

            def forward(self, x):
                return torch.cond(x.sum() > 0, lambda x: self.inner(x), lambda x: torch.tanh(self.inner(x)), (x,))
        for depth in (0, 3):
            watched = self.same(Branches(), torch.randn(4, 8), depth=depth)
            self.assertEqual(sum(figures[0] for figures in watched.flops("pytorch").values()), 2 * 4 * 64)
        try:
            from torch.nn.attention.flex_attention import flex_attention
        except ImportError:
            return

        class Flexible(nn.Module):
            def forward(self, x):
                return flex_attention(x, x, x)
        watched = self.same(Flexible(), torch.randn(1, 2, 16, 8))
        self.assertIn("flex_attention", watched.not_counted["every convention"])


class Memory(Watched):
    def test_by_use(self):
        model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 16))
        model[3].weight = nn.Parameter(model[0].weight.detach().new_zeros(16, 16))
        optimizer = torch.optim.Adam(model.parameters())
        watched = self.watch(model, flops=True, optimizer=optimizer)
        self.assertIsNone(watched.memory()["gradients"])
        data = torch.randn(4, 8)
        model(data).sum().backward()
        optimizer.step()
        parameters = 4 * (8 * 16 + 16 + 32 + 256 + 16)
        found = watched.memory()
        self.assertEqual(found["parameters"], parameters)
        self.assertEqual(found["gradients"], parameters)
        self.assertGreaterEqual(found["optimizer_state"], 2 * parameters)
        self.assertLessEqual(found["optimizer_state"], 2 * parameters + 8 * 8)
        self.assertEqual(found["buffers"], 4 * 32 + 8)
        # the data, the linear output that batch norm keeps with mean and deviation, tanh's output, kept once
        self.assertEqual(found["activations"], 4 * (4 * 8 + 4 * 16 + 2 * 16 + 4 * 16))

    def test_sparse_gradients(self):
        """A row of a sparse gradient has its values and its index."""
        model = nn.Embedding(1000, 8, sparse=True)
        watched = self.watch(model, flops=True)
        model(torch.tensor([1, 5])).sum().backward()
        self.assertEqual(watched.memory()["gradients"], 2 * (8 * 4 + 8))

    def test_shared_storage_counts_once(self):
        model = nn.Sequential(nn.Linear(8, 8, bias=False), nn.Linear(8, 8, bias=False))
        model[1].weight = model[0].weight
        self.assertEqual(self.watch(model).memory()["parameters"], 4 * 64)


class Report(Watched):
    def test_summary_fits_80_columns(self):
        model = nn.Sequential(Residual(), nn.LSTM(8, 8), )
        loader = [torch.randn(4, 8) for _ in range(5)]
        watched = self.watch(model, flops=True, name="net")
        for batch in assay.steps(loader, monitor=self.monitor, progress=False):
            model(batch)[0].sum().backward()
        file = io.StringIO()
        watched.print_summary(file)
        text = file.getvalue()
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)
        for expected in ("MODEL net", "first", "GFLOP/s", "optimizer state", "deepspeed", "loading data", "4 of 5 calls"):
            self.assertIn(expected, text)
        self.assertEqual(watched.loading().keys(), {"load_seconds", "compute_seconds"})

    def test_before_the_first_call(self):
        model = Residual()
        self.assertIn("n/a", self.watch(model, flops=True).summary())

    def test_record_is_one_that_the_command_reads(self):
        model = Residual()
        watched = self.watch(model, flops=True)
        model(torch.randn(2, 8))
        again = assay.Record.from_json(watched.record().to_json()).to_dict()["models"][0]
        self.assertEqual((again["name"], again["parameters"]), (watched.name, 2 * 72))


class WithoutTorch(unittest.TestCase):
    def test_says_what_is_missing_and_imports_nothing(self):
        program = ("import sys, assay\n"
                   "try:\n    assay.watch(print)\n"
                   "except TypeError as error:\n    print(error)\n"
                   "print('torch' in sys.modules)")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertIn("PyTorch, which this program has not imported", done.stdout)
        self.assertIn("False", done.stdout)


def counted_models():
    """(name, model, input): models of which PyTorch's own counter counts every product."""
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.projections = nn.Linear(32, 96)

        def forward(self, x):
            query, key, value = self.projections(x).chunk(3, dim=-1)
            return torch.softmax(query @ key.transpose(-1, -2), dim=-1) @ value

    class Block(nn.Module):
        """A block of a residual network."""

        def __init__(self, dilation):
            super().__init__()
            self.first, self.second = nn.Conv2d(4, 8, 3, 2, dilation, dilation, bias=False), nn.Conv2d(8, 8, 3, 1, 1)
            self.down, self.norm = nn.Conv2d(4, 8, 1, 2), nn.BatchNorm2d(8)

        def forward(self, x):
            return torch.relu_(self.norm(self.second(torch.relu(self.first(x)))) + self.down(x))

    class Passing(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.edges = nn.Linear(8, 5), torch.randint(0, 6, (2, 20))

        def forward(self, x):
            return torch.zeros(6, 5).index_add(0, self.edges[1], self.linear(x)[self.edges[0]])

    class Function(nn.Module):
        def __init__(self, function, *parts):
            super().__init__()
            self.function, self.parts = function, nn.ModuleList(parts)

        def forward(self, x):
            return self.function(x, *self.parts)

    shared, frozen = nn.Linear(8, 8), nn.Linear(8, 8).requires_grad_(False)
    heads = nn.MultiheadAttention(16, 4, batch_first=True)
    return [("residual", Block(1), torch.randn(2, 4, 12, 12)), ("dilated", Block(2), torch.randn(2, 4, 12, 12)),
            ("3d", nn.Conv3d(2, 3, 3, stride=2), torch.randn(1, 2, 9, 9, 9)), ("without a batch", nn.Conv1d(4, 6, 5), torch.randn(4, 31)),
            ("heads", Function(lambda x, heads: heads(x, x, x)[0], heads), torch.randn(2, 7, 16)),
            ("encoder", nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=True), torch.randn(2, 7, 16)),
            ("messages", Passing(), torch.randn(6, 8)),
            ("shared", Function(lambda x, linear: linear(torch.tanh(linear(x))), shared), torch.randn(4, 8)),
            ("frozen", Function(lambda x, first, last: last(first(x)), frozen, nn.Linear(8, 3)), torch.randn(4, 8)),
            ("frozen at the end", Function(lambda x, first, last: last(first(x)), nn.Linear(8, 8), frozen), torch.randn(4, 8)),
            ("einsum", Function(lambda x: torch.einsum("bi,ij,bj->b", x, x.T @ x, x)), torch.randn(5, 4)),
            ("baddbmm", Function(lambda x: torch.baddbmm(x[:, :, :1], x, x.transpose(1, 2))), torch.randn(2, 3, 4)),
            ("linear", nn.Linear(32, 16), torch.randn(8, 32)),
            ("deep", nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.LayerNorm(64), nn.Linear(64, 4)), torch.randn(3, 7, 16)),
            ("convolution", nn.Conv2d(3, 8, 3, stride=2, padding=1), torch.randn(2, 3, 17, 19)),
            ("convolution 1d", nn.Conv1d(4, 6, 5), torch.randn(2, 4, 31)),
            ("transposed", nn.ConvTranspose2d(4, 3, 3, stride=2), torch.randn(2, 4, 9, 9)),
            ("products", Attention(), torch.randn(2, 10, 32))]


@unittest.skipUnless(torch, "no torch")
class CountedAsPyTorchCounts(Watched):
    def test_forward_and_backward(self):
        try:
            from torch.utils.flop_counter import FlopCounterMode
        except ImportError:
            self.skipTest("this PyTorch has no counter of its own: version 2.1 does")
        for name, model, given in counted_models():
            given.requires_grad_()
            with self.subTest(name):
                with FlopCounterMode(display=False) as forward:
                    output = model(given)
                with FlopCounterMode(display=False) as backward:
                    output.sum().backward()
                watched = self.watch(model, flops=True)
                model(given).sum().backward()
                figures = watched.flops("pytorch").values()
                watched.remove()
                self.assertEqual((sum(f for f, _ in figures), sum(b for _, b in figures)),
                                 (forward.get_total_flops(), backward.get_total_flops()))
                with torch.inference_mode(), FlopCounterMode(display=False) as inference:
                    model(given.detach())
                watched = self.watch(model, flops=True)
                with torch.inference_mode():
                    model(given.detach())
                self.assertEqual(sum(f for f, _ in watched.flops("pytorch").values()), inference.get_total_flops())
                watched.remove()


if __name__ == "__main__":
    unittest.main()
