"""Counts the FLOPs of one call of a PyTorch model, and the bytes of the tensors that it keeps for its backward pass.

The call runs as usual, under a dispatch mode that sees each operation with the shapes of its tensors. So modules and functionals are
counted alike. The prices of operations are those of docs/flops.md: the table of libassay, under its four conventions. The FLOPs of backward
are derived from forward, as for the built-in models: a product costs one more product for each operand that gets a gradient.

LSTM, GRU and plain recurrent layers count as one operation each, whatever operations they consist of on this device. A function mode sees
them before they are split into these. This module does not import PyTorch at the top: the modes are made when a model is traced.
"""
import collections
import contextlib
import functools
import math
import sys
import threading
import time

from . import _core

CONVENTIONS = ("assay", "pytorch", "fvcore", "deepspeed")

# Operations by their price in the table of libassay. The price is for each element of the output, unless a comment says otherwise.
_ELEMENTWISE = {
    "add": "add sub rsub lerp add_relu",
    "multiply": "mul div square",
    "relu": "relu leaky_relu rrelu_with_noise threshold clamp clamp_min clamp_max hardtanh elu prelu _prelu_kernel hardsigmoid "
            "hardswish abs neg maximum minimum fmax fmin sign",
    "gelu": "gelu",
    "tanh": "tanh",
    "sigmoid": "sigmoid log_sigmoid_forward",
    "sine": "sin cos tan exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal erf erfc pow softplus atan atan2 asin acos sinh "
            "cosh xlogy special_entr polar",
}
_BY_INPUT = {       # a price for each element of the input
    "mean": "sum mean var std var_mean std_mean amax amin max min prod cumsum nansum logsumexp median mode adaptive_avg_pool1d "
            "_adaptive_avg_pool2d adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d all any",
    "softmax": "_softmax _log_softmax _safe_softmax",
    "dropout": "native_dropout _fused_dropout",
}
_COMPOSED = {       # several prices for each element of the output
    "addcmul": ("multiply", "add"), "addcdiv": ("multiply", "add"), "glu": ("sigmoid", "multiply"),
}
_ACTIVATIONS = {    # the same; under the convention deepspeed, an activation is 1 for each element
    "silu": ("sigmoid", "multiply"), "mish": ("sine", "tanh", "multiply"),
}
_BY_INPUT_COMPOSED = {"mse_loss": ("add", "multiply", "mean"), "linalg_vector_norm": ("multiply", "mean"), "norm": ("multiply", "mean"),
                      "smooth_l1_loss": ("add", "relu", "mean"), "huber_loss": ("add", "relu", "mean"), "l1_loss": ("add", "relu", "mean"),
                      "binary_cross_entropy": ("sine", "sine", "multiply", "add", "mean")}
_NORMS = ("native_layer_norm native_group_norm native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training _batch_norm_with_update "
          "_batch_norm_no_update cudnn_batch_norm miopen_batch_norm _fused_rms_norm")
_ACCUMULATED = "index_add scatter_add scatter_reduce _index_put_impl index_put segment_reduce index_reduce"    # elements of the source
_LOOKED_UP = "embedding index_select gather index take nll_loss_forward nll_loss2d_forward"                      # elements of the output

_NAMED_BY_KIND = ("bias", "dropout", "LSTM cell")       # parts of operations that have these names in the lists of what is left out

# Operations without arithmetic: they make, move, compare or inspect data.
_FREE = frozenset("""
    view _unsafe_view reshape _reshape_alias alias detach clone copy contiguous t transpose permute expand squeeze unsqueeze select
    slice split split_with_sizes unsafe_split unsafe_split_with_sizes chunk unsafe_chunk unbind narrow diagonal as_strided flatten unflatten movedim cat stack hstack vstack
    empty empty_like empty_strided new_empty new_empty_strided new_zeros new_full new_ones zeros zeros_like ones ones_like full full_like fill zero
    arange linspace eye tril triu scalar_tensor rand randn rand_like randn_like randint normal uniform bernoulli random
    _to_copy to type_as lift_fresh lift_fresh_copy lift masked_fill masked_select masked_scatter where scatter slice_scatter
    select_scatter diag_embed diag repeat repeat_interleave tile roll flip rot90 pad constant_pad_nd reflection_pad1d
    reflection_pad2d replication_pad1d replication_pad2d pixel_shuffle pixel_unshuffle im2col col2im unfold unfold_copy sort topk
    argsort argmax argmin nonzero unique _unique2 unique_dim bincount eq ne lt le gt ge logical_and logical_or logical_not
    isnan isinf isfinite bitwise_and bitwise_or bitwise_not ceil floor round trunc one_hot resize set _local_scalar_dense item equal
    view_as_real view_as_complex real imag conj _conj resolve_conj resolve_neg meshgrid broadcast_tensors is_same_size
    sparse_coo_tensor _sparse_coo_tensor_unsafe _sparse_coo_tensor_with_dims_and_tensors coalesce _coalesce indices values crow_indices
    col_indices _indices _values to_sparse to_dense _to_dense _to_sparse upsample_nearest2d upsample_nearest1d _pack_padded_sequence _pad_packed_sequence
    _cudnn_init_dropout_state _cudnn_rnn_flatten_weight block_diag _assert_async _assert_tensor_metadata sym_size sym_numel sym_stride dropout
""".split())


@functools.lru_cache(maxsize=4096)
def price(kind, count, m, k, n, gradients):
    """{convention: (forward, backward)}: the FLOPs of one operation of libassay's table."""
    return _core.term_flops(kind, count, m, k, n, gradients)


def _table():
    """{name of an operation: the method that counts it}"""
    table = {}
    for kinds, method in ((_ELEMENTWISE, Tracer.by_output), (_BY_INPUT, Tracer.by_input)):
        for kind, names in kinds.items():
            table.update((name, functools.partial(method, kinds=(kind,))) for name in names.split())
    table.update((name, functools.partial(Tracer.by_output, kinds=kinds)) for name, kinds in _COMPOSED.items())
    table.update((name, functools.partial(Tracer.activation, kinds=kinds)) for name, kinds in _ACTIVATIONS.items())
    table.update((name, Tracer.normalised) for name in _NORMS.split())
    table.update((name, functools.partial(Tracer.by_input, kinds=kinds)) for name, kinds in _BY_INPUT_COMPOSED.items())
    table.update((name, Tracer.accumulated) for name in _ACCUMULATED.split())
    table.update((name, functools.partial(Tracer.by_output, kinds=("embedding",))) for name in _LOOKED_UP.split())
    table.update({"mm": Tracer.product, "bmm": Tracer.product, "mv": Tracer.product, "dot": Tracer.product, "vdot": Tracer.product,
                  "addmm": Tracer.product_and_bias, "baddbmm": Tracer.product_and_bias,
                  "addmv": Tracer.product_and_bias, "addbmm": Tracer.product_and_bias, "_sparse_addmm": functools.partial(Tracer.product, first=1),
                  "_addmm_activation": Tracer.product_and_bias, "addr": Tracer.product_and_bias,
                  "linear": Tracer.linear, "mkldnn_linear": Tracer.linear, "_mkl_linear": Tracer.linear,
                  "mul": Tracer.multiplied, "div": Tracer.divided, "add": Tracer.added,
                  "embedding_bag": Tracer.bag, "_embedding_bag": Tracer.bag, "_embedding_bag_forward_only": Tracer.bag,
                  "avg_pool1d": Tracer.pooled, "avg_pool2d": Tracer.pooled, "avg_pool3d": Tracer.pooled,
                  "max_pool1d": Tracer.pooled, "max_pool2d": Tracer.pooled, "max_pool2d_with_indices": Tracer.pooled,
                  "max_pool3d_with_indices": Tracer.pooled,
                  "cudnn_convolution_transpose": functools.partial(Tracer.convolution, transposed=True)})
    for name in ("convolution", "_convolution", "convolution_overrideable", "mkldnn_convolution", "cudnn_convolution",
                 "slow_conv2d_forward", "_slow_conv2d_forward", "conv_depthwise3d", "_conv_depthwise2d", "slow_conv3d_forward"):
        table[name] = Tracer.convolution
    for name in ("_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention_for_cpu",
                 "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention", "_scaled_dot_product_fused_attention_overrideable",
                 "_scaled_dot_product_attention", "_scaled_dot_product_attention_forward"):
        table[name] = Tracer.attention
    return table


class Tracer:
    """Counts one call of a model. `components` are the modules, by name."""

    def __init__(self, torch, model, root):
        self._torch = torch
        self._where = [root]
        self._suspended = 0
        self._inside = None         # the function of _COUNTED_AS_ONE that runs now
        self._masks = []            # the masks of dropout; kept alive, so that no other tensor gets the identity of one
        self._modes = []
        self._keeper = None         # the hooks of saved tensors, while they are there
        self.thread = None          # of the call; modes belong to a thread
        self._own = {storage_of(tensor)[0] for tensor in [*model.parameters(), *model.buffers()]}
        self._saved = {}            # storage of a saved tensor -> (bytes, module)
        self.flops = collections.defaultdict(lambda: {name: [0, 0] for name in CONVENTIONS})
        self.unknown = collections.Counter()    # operations without a price
        self.left_out = {name: set() for name in CONVENTIONS}   # operations that a convention counts as 0
        self.without_gradients = 0      # operations that ran under no_grad although the call did not
        self.grad = torch.is_grad_enabled()
        self.failed = None
        self.aside = False          # a part of the call ran without hooks of saved tensors
        self.alive = None           # a function that says whether the call still runs; set if PyTorch does not report failures

    # ---- the call ----

    def enter(self):
        """Enter the modes that see each operation."""
        self.thread = threading.get_ident()
        contexts = [_dispatch_mode(self)(), _function_mode(self)()]
        if self.grad:
            self._keeper = self._torch.autograd.graph.saved_tensors_hooks(self._keep, _unchanged)
            contexts.append(self._keeper)
        for context in contexts:
            try:
                context.__enter__()
                self._modes.append(context)
            except Exception as error:      # the model is called inside a context that forbids such a mode
                self.failed = str(error)
        _begin_trace(self._torch, self)

    def leave(self):
        """Leave the modes. If the thread of the call is another one, which an exception has ended, its modes count no more."""
        _end_trace(self._torch, self)
        if self.thread != threading.get_ident():
            self._suspended += 1
            self._modes.clear()
        while self._modes:
            self._modes.pop().__exit__(None, None, None)
        self._masks.clear()

    def into(self, name):
        self._where.append(name)

    def out_of(self, name):
        while len(self._where) > 1 and self._where.pop() != name:
            pass

    def activations(self):
        """{module: bytes} of the tensors that are kept for the backward pass. Each storage counts once."""
        sizes = collections.Counter()
        for size, module in self._saved.values():
            sizes[module] += size
        return sizes

    @contextlib.contextmanager
    def without_hooks(self):
        """A context in which this call has no hooks of saved tensors."""
        there = self._keeper in self._modes and self.thread == threading.get_ident()
        if there:
            self.aside = True
            self._keeper.__exit__(None, None, None)
        try:
            yield
        finally:
            if there and self._keeper in self._modes:
                self._keeper.__enter__()

    def _keep(self, tensor):
        storage, size = storage_of(tensor)
        if storage not in self._own:
            self._saved.setdefault(storage, (size, self._where[-1]))
        # A tensor with its graph would keep itself alive.
        return tensor.detach() if tensor.grad_fn is not None else tensor, tensor._version

    # ---- counting ----

    def splits(self, function):
        """Whether an operation consists of others. With gradients, PyTorch has split it before; in inference mode, it arrives here as one."""
        name = _name_of(function)
        if name in _FREE or name in _table_of() or not hasattr(function, "_op_dk"):
            return False
        try:
            return self._torch._C._dispatch_has_kernel_for_dispatch_key(function.name(), "CompositeImplicitAutograd")
        except RuntimeError:        # an operation that the dispatcher does not know, such as prim::layout
            return False

    def see(self, function, args, kwargs, output):
        """Count one operation of ATen that was called."""
        if self._suspended or (self.alive is not None and not self.alive()):
            return
        name = _name_of(function)
        count = _table_of().get(name) or _table_of().get(name.rstrip("_"))
        try:
            if count is not None and _computes(self._torch, args, output):
                count(self, _Call(self._torch, name, args, kwargs, output, self.grad))
            elif count is None and name.rstrip("_") not in _FREE and _computes(self._torch, args, output):
                self.unknown[name.strip("_")] += 1
        except Exception:       # the signature is not the expected one
            self.unknown[name.strip("_")] += 1
        if self.grad and count is not None and not self._torch.is_grad_enabled():
            self.without_gradients += 1
        if name == "bernoulli_":
            self._masks.append(args[0])

    def term(self, call, kind, m, n, *, count=1, k=0, gradients=0, backward=None, fvcore=None, deepspeed=None):
        """Add an operation of the table to the module that runs now. Without gradients it has no backward. `fvcore` and `deepspeed` replace the
        FLOPs of the forward pass where that convention has another price for this call than for the kind."""
        backward = gradients > 0 if backward is None else backward
        figures = self.flops[self._where[-1]]
        own = {"fvcore": fvcore, "deepspeed": 0 if self._inside == "scaled_dot_product_attention" and kind != "matmul" else deepspeed}
        for convention, (forward, back) in price(kind, count, m, k, n, gradients).items():
            if own.get(convention) is not None:
                forward = own[convention]
                back = 2 * forward if convention == "deepspeed" else back
            figures[convention][0] += forward
            if backward:
                figures[convention][1] += back
            if forward == 0 and count * m * n > 0:
                self.left_out[convention].add(kind if kind in _NAMED_BY_KIND else call.name.strip("_").replace("native_", ""))

    def by_output(self, call, kinds):
        for kind in kinds:
            self.term(call, kind, 1, call.output_size(), backward=call.learns())

    def by_input(self, call, kinds):
        for kind in kinds:
            self.term(call, kind, 1, call.args[0].numel(), backward=call.learns())

    def activation(self, call, kinds):
        for place, kind in enumerate(kinds):
            self.term(call, kind, 1, call.output_size(), backward=call.learns(), deepspeed=0 if place else call.output_size())

    def normalised(self, call):
        affine = any(isinstance(part, self._torch.Tensor) for part in call.args[1:3])
        given = "batch_norm" in call.name and ("no_" in call.name or any(part is False for part in call.args))     # mean and variance are not computed
        size = call.args[0].numel()
        each = (1 if given else 4) + affine
        self.term(call, "layer norm", 1, size, backward=call.learns(), fvcore=each * size, deepspeed=each * size)

    def accumulated(self, call):
        source = [part for part in call.args if isinstance(part, self._torch.Tensor)][-1]
        if "index_put" in call.name and not (len(call.args) > 3 and call.args[3]):
            return      # the values are stored, not added
        self.term(call, "gather and add", 1, source.numel(), backward=call.learns())

    def product(self, call, first=0):
        left, right = call.args[first], call.args[first + 1]
        gradients = call.learns(left) + call.learns(right)
        if left.layout != self._torch.strided:
            self.term(call, "matmul", left._nnz(), right.shape[-1] if right.dim() > 1 else 1, k=1, gradients=gradients)
        elif right.layout != self._torch.strided:
            self.term(call, "matmul", left.shape[0], right._nnz(), k=1, gradients=gradients)
        elif left.dim() == 3:
            self.term(call, "matmul", left.shape[1], right.shape[2], count=left.shape[0], k=left.shape[2], gradients=gradients)
        else:
            rows = left.shape[0] if left.dim() == 2 else 1
            self.term(call, "matmul", rows, right.shape[1] if right.dim() == 2 else 1, k=left.shape[-1], gradients=gradients)

    def product_and_bias(self, call):
        if call.name == "addr":
            self.term(call, "matmul", call.args[1].numel(), call.args[2].numel(), k=1, gradients=call.learns(call.args[1]) + call.learns(call.args[2]))
        else:
            self.product(call, 1)
        self.term(call, "bias", 1, call.output_size(), backward=call.learns(call.args[0]),
                  deepspeed=call.args[0].numel() if self._inside in ("addmm", "baddbmm") else None)
        if call.name == "_addmm_activation":
            self.by_output(call, ("gelu" if call.kwargs.get("use_gelu") else "relu",))

    def linear(self, call):
        data, weight = call.args[0], call.args[1]
        bias = call.args[2] if len(call.args) > 2 else None
        self.term(call, "matmul", data.numel() // data.shape[-1], weight.shape[0], k=weight.shape[1],
                  gradients=call.learns(data) + call.learns(weight))
        if bias is not None:
            self.term(call, "bias", 1, call.output_size(), backward=call.learns(bias))

    def added(self, call):
        # A learnt vector that is added to rows is a bias, however the layer writes it.
        vectors = [part for part in call.tensors if part.dim() == 1 and part.is_leaf and part.requires_grad]
        wide = any(part.dim() > 1 for part in call.tensors)
        self.by_output(call, ("bias" if vectors and wide else "add",))

    def multiplied(self, call):
        dropped = any(part is mask for part in call.tensors for mask in self._masks)
        self.by_output(call, ("dropout" if dropped else "multiply",))

    def divided(self, call):
        if not any(call.args[0] is mask for mask in self._masks):     # scaling the mask is a part of dropout
            self.by_output(call, ("multiply",))

    def bag(self, call):
        width = call.args[0].shape[-1]
        self.term(call, "gather and add", call.args[1].numel(), width, backward=call.learns())

    def pooled(self, call):
        sizes = call.args[1] if len(call.args) > 1 else call.kwargs["kernel_size"]
        axes = int(call.name.split("pool")[1][0])
        window = math.prod(sizes) ** (axes if len(sizes) == 1 else 1)
        kind = "mean" if "avg" in call.name else "relu"         # a maximum is a comparison for each element
        self.term(call, kind, call.output_size(), window, backward=call.learns(), deepspeed=call.args[0].numel())

    def convolution(self, call, transposed=False):
        data, weight = call.args[0], call.args[1]
        bias = call.args[2] if len(call.args) > 2 and isinstance(call.args[2], self._torch.Tensor) else None
        if call.name in ("convolution", "_convolution", "convolution_overrideable"):
            transposed = call.args[6]
        places = data if transposed else call.output
        filters, inner = weight.shape[0], math.prod(weight.shape[1:])
        self.term(call, "matmul", places.shape[0] * math.prod(places.shape[2:]), filters, k=inner,
                  gradients=call.learns(data) + call.learns(weight))
        if bias is not None:
            self.term(call, "bias", 1, call.output_size(), backward=call.learns(bias), deepspeed=call.output_size())

    def attention(self, call):
        query, key, value = call.args[:3]
        *batch, rows, width = query.shape
        heads, columns = math.prod(batch), key.shape[-2]
        learns = call.learns(query) + call.learns(key)
        # Backward computes the scores again instead of keeping them, which is one more product.
        self.term(call, "matmul", rows, columns, count=heads, k=width, gradients=learns + 1 if learns or call.learns(value) else 0)
        self.term(call, "softmax", heads * rows, columns, backward=call.learns())
        self.term(call, "matmul", rows, value.shape[-1], count=heads, k=columns, gradients=(learns > 0) + call.learns(value))

    # ---- functions that a function mode sees ----

    def inside(self, name, function, args, kwargs):
        """Call a function that consists of operations. `name` is known to term() meanwhile."""
        before, self._inside = self._inside, name
        try:
            return function(*args, **kwargs)
        finally:
            self._inside = before

    def recurrent(self, name, function, args, kwargs):
        """Count a recurrent layer as a whole and call it. The operations inside the layer are not counted."""
        try:
            _count_recurrent(self, name, args)
        except Exception:
            self.unknown[name] += 1
        self._suspended += 1
        try:
            return function(*args, **kwargs)
        finally:
            self._suspended -= 1


class _Call:
    """A call of an operation."""

    def __init__(self, torch, name, args, kwargs, output, grad):
        self.torch, self.name, self.args, self.kwargs = torch, name, args, kwargs
        self.output = output[0] if isinstance(output, (tuple, list)) and output else output
        self.tensors = [part for part in args if isinstance(part, torch.Tensor)]
        self._grad = grad and torch.is_grad_enabled()

    def learns(self, tensor=None):
        """Whether the tensor gets a gradient; without a tensor, whether any argument does."""
        if tensor is not None:
            return self._grad and isinstance(tensor, self.torch.Tensor) and tensor.requires_grad
        return self._grad and any(part.requires_grad for part in self.tensors)

    def output_size(self):
        return self.output.numel()


def _name_of(function):
    """The name of an operation. Operations of a higher order, such as torch.cond, have no schema."""
    schema = getattr(function, "_schema", None)
    return schema.name.split("::")[-1] if schema is not None else function.__name__


def _computes(torch, args, output):
    """Whether an operation has a tensor among its arguments, and a tensor of real or complex numbers in its result."""
    inputs = [item for part in args for item in (part if isinstance(part, (tuple, list)) else (part,))]
    outputs = output if isinstance(output, (tuple, list)) else (output,)
    return (any(isinstance(part, torch.Tensor) for part in inputs)
            and any(isinstance(part, torch.Tensor) and (part.is_floating_point() or part.is_complex()) for part in outputs))


def _unchanged(kept):
    """The tensor that was kept. PyTorch leaves it to hooks to notice that an operation has modified the tensor in place."""
    tensor, version = kept
    if tensor._version != version:
        raise RuntimeError("one of the variables needed for gradient computation has been modified by an inplace operation: "
                           f"a tensor of shape {list(tensor.shape)} is at version {tensor._version}; expected version {version} instead")
    return tensor


# The tensors that a sparse tensor consists of, by its layout.
_PARTS = {"torch.sparse_coo": ("_indices", "_values"), "torch.sparse_csr": ("crow_indices", "col_indices", "values"),
          "torch.sparse_bsr": ("crow_indices", "col_indices", "values"), "torch.sparse_csc": ("ccol_indices", "row_indices", "values"),
          "torch.sparse_bsc": ("ccol_indices", "row_indices", "values")}


def storage_of(tensor):
    """(a key that identifies the storage of a tensor, the bytes of that storage)"""
    try:
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
        return (storage.data_ptr(), tensor.device), storage.nbytes()
    except (RuntimeError, NotImplementedError):     # sparse tensors have several storages, fake tensors none
        parts = [getattr(tensor, part)() for part in _PARTS.get(str(tensor.layout), ())]
        if parts:
            return (id(tensor), tensor.device), sum(storage_of(part)[1] for part in parts)
        return (id(tensor), tensor.device), tensor.numel() * tensor.element_size()


@functools.lru_cache(maxsize=1)
def _table_of():
    return _table()


# The number of gates of a cell, and the operations of one step for each unit besides its two products (docs/flops.md).
_GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
# Under the convention deepspeed: the operations of a step for each unit without biases, and with them.
_CELLS_OF_DEEPSPEED = {"lstm": (2, 10), "gru": (1, 7), "rnn_tanh": (-1, 1), "rnn_relu": (-1, 1)}
_CELLS = {"lstm": {"add": 5, "sigmoid": 3, "tanh": 2, "multiply": 3}, "gru": {"add": 5, "sigmoid": 2, "tanh": 1, "multiply": 3},
          "rnn_tanh": {"add": 1, "tanh": 1}, "rnn_relu": {"add": 1, "relu": 1}}


def _count_recurrent(tracer, name, args):
    cell = name.endswith("_cell")
    kind = name[:-5] if cell else name
    torch = tracer._torch
    call = _Call(torch, name, args, {}, None, tracer.grad)
    if cell:
        data, weights = args[0], args[2:]
        rows, directions, biased = data.numel() // data.shape[-1], 1, len(weights) > 2 and weights[2] is not None
        layer_weights = [weights]
    else:
        packed = isinstance(args[3], (list, tuple))     # a packed sequence has the arguments data, batch sizes, state, weights, ...
        data, (weights, biased, layers) = args[0], args[3:6] if packed else args[2:5]
        directions = 2 if args[8 if packed else 7] else 1
        rows = data.shape[0] if packed else data.numel() // data.shape[-1]
        layer_weights = [weights[i:i + len(weights) // (layers * directions)]
                         for i in range(0, len(weights), len(weights) // (layers * directions))]
    learns = call.learns(layer_weights[0][0])
    for place, own in enumerate(layer_weights):
        first = place < directions
        hidden, width = own[1].shape[0] // _GATES[kind], own[0].shape[1]
        into = (call.learns(data) if first else learns) + learns
        tracer.term(call, "matmul", rows, own[0].shape[0], k=width, gradients=into)
        tracer.term(call, "matmul", rows, own[1].shape[0], k=own[1].shape[1], gradients=2 * learns)
        if kind == "lstm" and biased:
            tracer.term(call, "LSTM cell", rows, hidden, backward=learns)
        else:
            cell_of_deepspeed = rows * hidden * _CELLS_OF_DEEPSPEED[kind][bool(biased)]
            for operation, times in _CELLS[kind].items():
                tracer.term(call, operation, rows, hidden, count=times, backward=learns, deepspeed=cell_of_deepspeed)
                cell_of_deepspeed = 0
            if biased:
                tracer.term(call, "bias", rows, hidden, count=2 * _GATES[kind], backward=learns)
        if len(own) in (3, 5) and not cell:     # a projection of the hidden state
            tracer.term(call, "matmul", rows, own[-1].shape[0], k=own[-1].shape[1], gradients=2 * learns)


_RECURRENT = frozenset([*_GATES, *(f"{kind}_cell" for kind in _GATES)])
_COUNTED_AS_ONE = ("addmm", "baddbmm", "scaled_dot_product_attention")      # by the convention deepspeed


# ---- what PyTorch does differently while any call is traced ----

_traces = {}                # thread -> the tracer of a call that is traced there
_traces_lock = threading.Lock()
_plain = {}                 # what was there before the first of them
_LONGEST_WAIT = 1.0         # seconds


def _begin_trace(torch, tracer):
    """Let torch.func differentiate and torch.compile rest while calls are traced.

    torch.func refuses to run under hooks of saved tensors. It calls disable_saved_tensors_hooks(), so that name gets a function which removes the
    hooks of the tracer for as long. torch.compile skips functions in a mode like ours, and calls that an error if the user wants the function
    compiled in full. So it is told to let the functions run as they are written.
    """
    with _traces_lock:
        if not _plain:
            graph = torch.autograd.graph
            _plain.update(disable=getattr(graph, "disable_saved_tensors_hooks", None), stance=_without_compiler(torch))
            if _plain["disable"] is not None:
                graph.disable_saved_tensors_hooks = _disable_hooks
        _traces[tracer.thread] = tracer


def _end_trace(torch, tracer):
    with _traces_lock:
        if _traces.get(tracer.thread) is tracer:
            del _traces[tracer.thread]
        waits = not _traces and _plain.get("stance") is not None
    if waits:
        _wait_for_compiled_calls()
    with _traces_lock:
        if _traces or not _plain:
            return
        if getattr(torch.autograd.graph, "disable_saved_tensors_hooks", None) is _disable_hooks:
            torch.autograd.graph.disable_saved_tensors_hooks = _plain["disable"]
        stance = _plain["stance"]
        _plain.clear()
        if stance is not None:
            with contextlib.suppress(RuntimeError):
                stance.__exit__(None, None, None)


def _without_compiler(torch):
    """The context in which compiled functions run as they are written; None if the program has none, or is within one."""
    compiles = any(name in sys.modules for name in ("torch._dynamo", "torch.nn.attention.flex_attention"))
    if not compiles or not hasattr(getattr(torch, "compiler", None), "set_stance"):
        return None
    with contextlib.suppress(RuntimeError):
        stance = torch.compiler.set_stance("force_eager")
        stance.__enter__()
        return stance
    return None


def _wait_for_compiled_calls():
    """Wait until no other thread is in a call of a compiled function. A call that has begun without the compiler must not end with it: PyTorch
    would find that the function was not compiled."""
    end = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < end and any(_calls_compiled(frame) for thread, frame in sys._current_frames().items() if thread != threading.get_ident()):
        time.sleep(0.001)


def _calls_compiled(frame):
    while frame is not None and not frame.f_code.co_filename.endswith("_dynamo/eval_frame.py"):
        frame = frame.f_back
    return frame is not None


@contextlib.contextmanager
def _disable_hooks(message):
    tracer, disable = _traces.get(threading.get_ident()), _plain.get("disable")
    if disable is None:         # the trace has ended in the meantime
        disable = sys.modules["torch"].autograd.graph.disable_saved_tensors_hooks
    with tracer.without_hooks() if tracer is not None else contextlib.nullcontext(), disable(message):
        yield


# ---- the modes ----

def _dispatch_mode(tracer):
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode      # torch is imported already, because there is a model of it

    class Counting(TorchDispatchMode):
        supports_higher_order_operators = True      # otherwise PyTorch refuses to run torch.cond and the like in this mode

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if tracer.splits(function):             # into operations that this mode sees
                with self:
                    return function._op_dk(torch._C.DispatchKey.CompositeImplicitAutograd, *args, **kwargs)
            output = function(*args, **kwargs)
            tracer.see(function, args, kwargs, output)
            return output
    return Counting


def _function_mode(tracer):
    from torch.overrides import TorchFunctionMode

    class Seeing(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            name = getattr(function, "__name__", "")
            if name in _RECURRENT:
                return tracer.recurrent(name, function, args, kwargs or {})
            if name in _COUNTED_AS_ONE:
                return tracer.inside(name, function, args, kwargs or {})
            if name == "cond" and _name_of(function) == name:       # in a mode, PyTorch would lose the gradients
                return (args[1] if args[0] else args[2])(*args[3])
            return function(*args, **(kwargs or {}))
    return Seeing
