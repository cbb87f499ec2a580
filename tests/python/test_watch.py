"""watch(): spans of a model's modules, forward and backward."""
import copy
import pickle
import threading
import unittest
import warnings

from watched import Residual, Watched, nn, torch

import assay

if torch:
    from torch.utils.checkpoint import checkpoint


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


if __name__ == "__main__":
    unittest.main()
