"""watch(): the FLOPs of a model, by hand and as PyTorch counts them."""
import io
import types
import unittest

from watched import Residual, Watched, nn, torch

import assay


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
