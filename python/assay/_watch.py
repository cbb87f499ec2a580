"""watch(): every module of a PyTorch model measured, forward and backward, without a change to the model.

The hooks are written in C (python/core/hooks.c). This module puts them on the model, traces one call of each shape for FLOPs and activations
(_flops.py), and removes the hooks again. It does not import PyTorch: a PyTorch model exists only if the program has imported PyTorch.
"""
import collections
import collections.abc
import functools
import inspect
import sys
import threading
import warnings
import weakref

from . import _core, _torch
from ._flops import Tracer, storage_of
from ._monitor import default_monitor
from ._watch_report import WatchReport

_MOST_SHAPES = 16       # FLOPs are counted for this many different shapes; calls with further shapes are only timed
_DEEPEST, _MOST_ITEMS = 5, 64        # limits for containers that are searched for shapes: nesting depth, and items of each
_NOT_CALLED = ("ModuleList", "ModuleDict", "ParameterList", "ParameterDict")
_names_in_use = weakref.WeakValueDictionary()
_watches = weakref.WeakKeyDictionary()      # module -> its watch


class NoHook:
    """Takes the place of a hook in a model that was pickled, and does nothing."""

    def before(self, module, arguments, keywords=None):
        """Do nothing."""

    def after(self, module, arguments, output):
        """Do nothing."""


class _UnlessCompiled:
    """A hook that is silent where torch.compile compiles the module that it stands on. Otherwise the compiler would stop at the hook."""

    def __init__(self, hook, is_compiling):
        self._hook, self._is_compiling = hook, is_compiling

    def __call__(self, *arguments):
        if self._is_compiling():
            return None
        return self._hook(*arguments)

    def __reduce__(self):
        return getattr, (NoHook(), self._hook.__name__)


class _Trace:
    """The trace of one call with tensors of certain shapes. `calls` counts all calls with these shapes."""

    def __init__(self):
        self.calls = 0
        self.tracer = None


class Watch(WatchReport):
    """A model that is measured. remove(), or the end of a `with` block, removes the hooks; the figures stay."""

    def __init__(self, model, *, depth=3, optimizer=None, monitor=None, name=None, backward=True, flops=True, every=None,
                 synchronize=False):
        torch = _torch.torch()
        if torch is None or not isinstance(model, torch.nn.Module):
            raise TypeError(_what_is_missing(model, torch))
        if not isinstance(depth, int) or depth < 0:
            raise ValueError(f"depth must be a whole number, 0 for the model as a whole, not {depth!r}")
        if every is not None and (not isinstance(every, int) or every < 1):
            raise ValueError(f"every must be a whole number above 0, not {every!r}")
        optimizers = list(optimizer) if isinstance(optimizer, (list, tuple)) else [] if optimizer is None else [optimizer]
        for each in optimizers:
            if not hasattr(each, "param_groups"):
                raise TypeError(f"optimizer must be one of torch.optim, or a list of them, not {type(each)}")
        self._torch = torch
        self._model = weakref.ref(model)
        self._monitor = monitor
        self._optimizers = optimizers
        self._handles = []
        self._switches = []         # the hooks of parts, as (dictionary of hooks of the module, key, hook)
        self._counts = flops
        self._traces = {}           # by the shapes of the arguments
        self._tracing = self._expected = None
        self._silent_if_compiled = False
        self._ends_later = False    # remove() was called while another thread runs a call that is traced
        self._others = _Trace()     # of calls with shapes beyond _MOST_SHAPES
        self.messages = []
        if name is not None and not isinstance(name, str):
            raise TypeError(f"the name of a model must be a string, not {type(name)}")
        parts = list(_parts(model, name or type(model).__name__, depth, self.messages.append))
        self._replace_others([part for _, part, _ in parts])
        self.name = name or self._distinct(type(model).__name__)
        _names_in_use[self.name] = self
        self.modules = collections.OrderedDict()        # name -> (weak reference to the module, its depth)
        queue = torch.autograd.Variable._execution_engine.queue_callback
        self._core = _core.new_watch(self._called, _described, self._switch_parts, queue, torch.is_grad_enabled,
                                     torch.cuda.synchronize if synchronize and _torch.cuda() else None, every or 0)
        backward = backward and self._can_hook_backward()
        try:
            for part_name, part, level in parts:
                self._hook(part_name if level else self.name, part, level, backward)
            for each in optimizers:
                self._measure_steps(each)
        except BaseException:
            self.remove()
            raise
        for message in self.messages:
            warnings.warn(f"assay.watch: {message}", stacklevel=3)

    def _replace_others(self, parts):
        """End earlier watches of the same modules. A module has only one watch, because two would end each other's spans."""
        for other in {other for part in parts if (other := _watches.get(part)) is not None}:
            other.remove()
            self.messages.append(f"the earlier watch {other.name} had modules in common with this one and has ended; its figures stay")
        for part in parts:
            _watches[part] = self

    def _distinct(self, name):
        """A name that no other watch has or had in the same monitor. Otherwise the spans of that watch would count as ours."""
        try:
            used = {operation["name"] for operation in self._record_of_monitor().to_dict()["operations"]}
        except (RuntimeError, ValueError):              # the monitor is closed
            used = set()
        fresh, number = name, 2
        while fresh in _names_in_use or f"{fresh}.forward" in used or f"{fresh}.forward (whole)" in used:
            fresh, number = f"{name}-{number}", number + 1
        return fresh

    # ---- hooks ----

    def _operation(self, name):
        return _core.operation(name) if self._monitor is None else self._monitor.operation(name)

    def _hook(self, name, part, level, backward):
        kinds = ("forward", "backward") if level else ("forward", "backward", "forward (whole)")
        hook = self._core.hook(name, part, tuple(self._operation(f"{name}.{kind}") for kind in kinds), level == 0)
        if level == 0:
            self._root = hook
        if backward:
            carrier = self._torch.empty(0)
            carrier._backward_hooks = collections.OrderedDict(assay=hook.arrived)
            hook.carry(carrier)
        always = {"always_call": True} if self._tells_failures else {}
        keywords = {"with_kwargs": True} if level == 0 and self._gives_keywords else {}
        before, after = hook.before, hook.after
        # The whole is called within compiled code only if the program uses the compiler already; its hooks are always there, and the cheapest.
        silent = level > 0 or "torch._dynamo" in sys.modules
        if silent and hasattr(getattr(self._torch, "compiler", None), "is_dynamo_compiling"):
            before, after = (_UnlessCompiled(each, self._torch.compiler.is_dynamo_compiling) for each in (before, after))
            self._silent_if_compiled |= level == 0
        before, after = part.register_forward_pre_hook(before, **keywords), part.register_forward_hook(after, **always)
        self._handles += [before, after]
        if level > 0:
            self._switches.append((part._forward_pre_hooks, before.id, part._forward_pre_hooks[before.id]))
            self._switches += [(hooks, after.id, hooks[after.id]) for hooks in
                               (part._forward_hooks, getattr(part, "_forward_hooks_always_called", {})) if after.id in hooks]
        self.modules[name] = (weakref.ref(part), level)

    def _switch_parts(self, on):
        """Put the hooks on the parts of the model, or remove them, so that only the model as a whole is measured."""
        for hooks, key, hook in self._switches:
            if on:
                hooks[key] = hook
            else:
                hooks.pop(key, None)

    @property
    def _gives_keywords(self):
        """Whether PyTorch passes the keyword arguments of a call to hooks."""
        return "with_kwargs" in inspect.signature(self._torch.nn.Module.register_forward_pre_hook).parameters

    @property
    def _tells_failures(self):
        """Whether PyTorch calls hooks after a forward() that raised an exception."""
        return "always_call" in inspect.signature(self._torch.nn.Module.register_forward_hook).parameters

    def _can_hook_backward(self):
        with self._torch.enable_grad():
            node = (self._torch.zeros(1, requires_grad=True) + 1).grad_fn
        if hasattr(node, "_register_hook_dict"):
            return True
        self.messages.append("this version of PyTorch has no hooks of the kind needed; backward passes are not measured")
        return False

    def _measure_steps(self, optimizer):
        step = self._operation(f"{self.name}.optimizer")
        if hasattr(optimizer, "register_step_pre_hook"):
            self._handles += [optimizer.register_step_pre_hook(lambda *_: step.__enter__() and None),
                              optimizer.register_step_post_hook(lambda *_: step.__exit__(None, None, None))]
            return
        plain = optimizer.step

        @functools.wraps(plain)         # schedulers read attributes of the function
        def measured(*args, **kwargs):
            with step:
                return plain(*args, **kwargs)
        own = "step" in vars(optimizer)
        optimizer.step = measured
        self._handles.append(_Undo(optimizer, measured, plain if own else None))

    def remove(self):
        """Remove the hooks from the model. The figures can still be read. If another thread is in a call that is traced, the hooks go when that
        call ends."""
        self._ends_later = self._traced_elsewhere()
        if self._ends_later:
            return
        if hasattr(self, "_root") and self._calls_in(sys._getframe()) == 0:
            self._root.abandon()        # ends what an exception has left open
        self._core.remove()
        self._drop_trace()
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._switches.clear()
        if _names_in_use.get(self.name) is self:
            del _names_in_use[self.name]
        for part, _ in self.modules.values():
            if part() is not None and _watches.get(part()) is self:
                del _watches[part()]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()

    # ---- calls of the model ----

    def _called(self, shapes):
        """Called when the model is called with new shapes. The first call of each shape is traced and not timed."""
        if self._torch.jit.is_tracing():
            return              # shapes are tensors there, and our modes would change the graph
        if self._traced_elsewhere():
            self._trace_of(shapes).calls += 1
            return
        if self._ends_later:
            self.remove()
            return
        if self._root.is_open or self._tracing is not None:
            if self._runs():
                return          # the model calls itself
            self._root.abandon()
            self._drop_trace()
        self._expect(shapes)
        trace = self._trace_of(shapes)
        trace.calls += 1
        if trace is not self._others and trace.tracer is None and self._counts and not _is_closed(self._model()):
            if _is_lazy(self._model()):
                self._expect(None)      # this call makes the parameters, so the next one is traced
            else:
                self._start_tracing(trace)

    def _trace_of(self, shapes):
        """The trace of these shapes. If there are too many shapes, the one that stands for all others."""
        trace = self._traces.get(shapes)
        if trace is None and len(self._traces) < _MOST_SHAPES:
            trace = self._traces[shapes] = _Trace()
        return trace if trace is not None else self._others

    def _expect(self, shapes):
        """Add the number of calls with the shapes expected so far, and let the extension count calls with these shapes from now on."""
        alike = self._core.expect(shapes)
        self._traces.get(self._expected, self._others).calls += alike
        self._expected = shapes

    def _start_tracing(self, trace):
        trace.tracer = self._tracing = Tracer(self._torch, self._model(), self.name)
        if not self._tells_failures:
            self._tracing.alive = self._runs
        self._core.trace(self._stepped)
        self._tracing.enter()

    def _stop_tracing(self):
        if self._tracing is not None:
            self._core.trace(None)
            self._tracing.leave()
            self._tracing = None

    def _drop_trace(self):
        """Discard the trace of a call that an exception has ended. The next call with the same shapes is traced again."""
        if self._tracing is not None:
            trace = next(trace for trace in self._traces.values() if trace.tracer is self._tracing)
            self._stop_tracing()
            trace.tracer = None
            self._expect(None)

    def _stepped(self, hook, entering, output):
        """Called when a module is entered or left while a call is traced. `entering` is None if an exception leaves the module."""
        if hook is self._root:
            if entering is None:
                self._drop_trace()
            elif not entering:
                self._stop_tracing()
            if self._ends_later and self._tracing is None:
                self.remove()
        elif entering:
            self._tracing.into(hook.name)
        else:
            self._tracing.out_of(hook.name)

    def _runs(self):
        """Whether a call of the model is running in this thread, other than the one that begins now."""
        frame = sys._getframe(1)
        return self._calls_in(frame) > (1 if frame.f_code is Watch._called.__code__ else 0)

    def _traced_elsewhere(self):
        """Whether a call of the model that is traced is running in another thread. Its modes can only be left in that thread."""
        if self._tracing is None or self._tracing.thread == threading.get_ident():
            return False
        return self._calls_in(sys._current_frames().get(self._tracing.thread)) > 0

    def _calls_in(self, frame):
        """How many calls of the model are running in the stack of a frame. The stack is searched for them, because in PyTorch 1 a call that an
        exception has ended leaves no other sign."""
        model, code = self._model(), self._torch.nn.Module._call_impl.__code__
        calls = 0
        while frame is not None:
            if frame.f_code is code and frame.f_locals.get("self") is model:
                calls += 1
            frame = frame.f_back
        return calls

    # ---- what it found ----

    def _record_of_monitor(self):
        return (self._monitor if self._monitor is not None else default_monitor()).record()

    def memory(self):
        """Bytes by use: parameters, gradients, optimizer_state, activations and buffers. A storage that tensors share counts once. A figure that
        is not known is None: gradients before the first backward pass, activations before the first call with gradients."""
        model = self._model()
        if model is None:
            raise ReferenceError("the model does not exist any more")
        parameters = list(model.parameters())
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        own = _sizes(parameters)
        state = _sizes(_tensors_in([each.state for each in self._optimizers])) if self._optimizers else None
        if state is not None:
            state = {storage: size for storage, size in state.items() if storage not in own}
        activations = self._activations()
        return {"parameters": sum(own.values()), "gradients": sum(_sizes(gradients).values()) if gradients else None,
                "optimizer_state": sum(state.values()) if state is not None else None,
                "activations": sum(activations.values()) if activations is not None else None,
                "buffers": sum(_sizes(model.buffers()).values())}


class _Undo:
    """Restores the step() of an optimizer, unless other code has replaced it since."""

    def __init__(self, optimizer, measured, plain):
        self._optimizer, self._measured, self._plain = weakref.ref(optimizer), measured, plain

    def remove(self):
        """Restore the step()."""
        optimizer = self._optimizer()
        if optimizer is None or vars(optimizer).get("step") is not self._measured:
            return
        if self._plain is not None:
            optimizer.step = self._plain
        else:
            del optimizer.step


def _what_is_missing(model, torch):
    if torch is None:
        return (f"watch() measures models of PyTorch, which this program has not imported; {type(model)} is none. For other "
                "callables there are assay.tracked() and assay.profile()")
    return f"watch() needs a torch.nn.Module, not {type(model)}"


def _is_closed(module):
    """The reason why the parts of a module cannot be measured, or None."""
    kinds = {kind.__name__ for kind in type(module).__mro__}
    if "ScriptModule" in kinds:
        return "is compiled by TorchScript"
    if "OptimizedModule" in kinds or getattr(module, "_compiled_call_impl", None) is not None:
        return "is compiled by torch.compile"
    return None


def _is_lazy(model):
    """Whether parameters have no shape before the first call (torch.nn.LazyLinear and the like)."""
    return any(type(tensor).__name__.startswith("Uninitialized") for tensor in (*model.parameters(), *model.buffers()))


def _can_hook(module):
    """Whether a compiled module can be measured as a whole. Only the wrapper that torch.compile(model) makes can."""
    return "OptimizedModule" in {kind.__name__ for kind in type(module).__mro__}


def _described(shapes, arguments, keywords):
    """The shapes of a call with keyword arguments, or with tensors inside of lists, dictionaries and objects."""
    return (*shapes, _shapes_in(arguments), _shapes_in(keywords))


def _shapes_in(value, depth=0):
    shape = getattr(value, "shape", None)
    if shape is not None or depth == _DEEPEST:
        return shape
    if isinstance(value, (list, tuple)):
        return tuple(_shapes_in(item, depth + 1) for item in value[:_MOST_ITEMS])
    items = value if isinstance(value, collections.abc.Mapping) else getattr(value, "__dict__", None)
    if not isinstance(items, collections.abc.Mapping) or isinstance(value, type) or callable(value):
        return None
    return tuple((str(key), _shapes_in(item, depth + 1)) for key, item in list(items.items())[:_MOST_ITEMS])


def _parts(model, root, depth, say):
    """(name, module, level) of all modules that are called, each module once. Lists of modules are not called, and do not count as a level."""
    seen = set()

    def walk(module, name, level, prefix):
        called = type(module).__name__ not in _NOT_CALLED
        if module in seen or (called and level > depth):
            return
        seen.add(module)
        closed = _is_closed(module)
        if closed and not _can_hook(module):
            if level == 0:
                raise TypeError(f"watch() cannot look into {name}, which {closed}; watch the model that it was made of")
            say(f"{name} {closed}: it is not measured on its own")
            return
        if closed:
            say(f"{name} {closed}: it is measured as a whole")
        if called:
            yield name, module, level
        if not closed:
            for part_name, part in module.named_children():
                path = f"{prefix}{part_name}"
                yield from walk(part, path, level + 1 if called else level, f"{path}.")
    yield from walk(model, root, 0, "")


def _tensors_in(state):
    for value in state.values() if isinstance(state, dict) else state:
        if hasattr(value, "element_size"):
            yield value
        elif isinstance(value, (dict, list, tuple)):
            yield from _tensors_in(value)


def _sizes(tensors):
    """{storage: bytes}"""
    return dict(storage_of(tensor) for tensor in tensors)


def watch(model, *, depth=3, optimizer=None, monitor=None, name=None, backward=True, flops=True, every=None, synchronize=False):
    """Measure every module of a PyTorch model, forward and backward, without a change to it:

        watched = assay.watch(model, optimizer=optimizer)
        for batch in assay.steps(loader):
            train(batch)
        watched.print_summary()
        watched.remove()                # or: with assay.watch(model) as watched:

    depth: the number of levels of nested modules to measure (0: the model as a whole). optimizer: also measure its steps, and the memory of its
    state; a list if there are several. monitor: the monitor that receives the spans (default: the one of assay.track()). name: the name of the model (default: its class).
    backward: whether to measure backward passes. flops: whether to trace the first call of each shape, which is then not timed.
    every: measure the parts of the model in one of `every` calls (default: in all calls; if calls are short, in so few that the measurement
    costs some 1.5 % of the time). synchronize: wait for the GPU at both ends of every span; without it, spans on a GPU only time the launches.
    """
    return Watch(model, depth=depth, optimizer=optimizer, monitor=monitor, name=name, backward=backward, flops=flops,
                 every=every, synchronize=synchronize)
