"""watch() of models that torch.func and torch.compile transform."""
import importlib.util
import pickle
import subprocess
import sys
import threading
import unittest

from watched import Watched, nn, torch

import assay


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


if __name__ == "__main__":
    unittest.main()
