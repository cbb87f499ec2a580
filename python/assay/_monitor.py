"""Monitors, the records they give, and decorated functions."""
import functools
import inspect
import json
import tempfile
import types

from . import _core


class Plot:
    """A figure as SVG. Notebooks show it; save() writes it to a file, and str() is its text."""

    def __init__(self, svg):
        self._svg = svg

    def __str__(self):
        return self._svg

    def _repr_svg_(self):
        return self._svg

    def save(self, path):
        """Replace a file by it."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._svg)


class Record(_core.Record):
    """Everything measured about one run, as `assay compare`, `assay report` and the C library read it too."""

    __slots__ = ()

    @staticmethod
    def from_json(text):
        """The record in a string of JSON, or another tool's results."""
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as file:
            file.write(text)
            file.flush()
            try:
                return _core.load(file.name)
            except ValueError as error:
                raise ValueError(str(error).replace(file.name, "the text")) from None

    @staticmethod
    def from_dict(record):
        """The record in a dictionary, as to_dict() makes it."""
        return Record.from_json(json.dumps(record))

    def to_json(self, *, compact=False, events=False):
        """Its JSON, as a string. `events` includes the trace of single spans, which may be large."""
        return self.json(compact, events)

    def to_dict(self, *, events=False):
        """Its JSON, as a dictionary."""
        return json.loads(self.json(True, events))

    def to_pandas(self):
        """Its operations as a pandas.DataFrame, one row each; the column `path` has the names from the top."""
        import pandas
        operations = self.to_dict()["operations"]
        for operation in operations:
            parent = operation["parent"]
            path = operations[parent]["path"] if parent is not None else ()
            operation["path"] = path + (operation["name"],)
            for key in ("buckets", "samples_seconds", "unavailable"):
                operation.pop(key, None)
        return pandas.DataFrame(operations)

    def plot(self, kind, *, of=None, title=None, width=0):
        """Its figure: "distribution", "ratios", "growth", "roofline", "timeline" or "convergence" (docs/plots.md).

        `of` keeps only what has this text in its name; of growth it is the parameter. `width` is in pixels (0: 360).
        """
        return Plot(self.svg(kind, of, title, width))

    @property
    def comparisons(self):
        """Its comparisons, the leading metric first: dictionaries with ratio, low, high, verdict and reason."""
        return self.to_dict().get("comparisons", [])

    @property
    def verdict(self):
        """The verdict of its first comparison: "faster", "slower", "same" or "inconclusive"; None without any."""
        comparisons = self.comparisons
        return comparisons[0]["verdict"] if comparisons else None

    def __str__(self):
        return self.text("comparisons" if self.to_dict().get("kind") == "compare" else "text")

    def print(self, format="text", file=None):
        """Print a report; `assay report --help` lists the formats."""
        print(self.text(format), end="", file=file)

    def _repr_html_(self):
        from . import _html     # loaded by those who show it
        return _html.of_record(self.to_dict())

    def __repr__(self):
        record = self.to_dict()
        parts = [f"{len(record[key])} {key if len(record[key]) != 1 else key[:-1]}"
                 for key in ("subjects", "comparisons", "operations") if record.get(key)]
        return f"<assay record of kind {record.get('kind')!r}: {', '.join(parts) or 'nothing measured'}>"


class Monitor(_core.Monitor):
    """Nested spans, their statistics, and counters.

    memory: True (resident memory, read every 10 ms), False, "rss" (for every span), "heap" (exact, under `assay run
    --heap`), "peak" (the kernel's peak within every span), or several: "rss,heap".
    journal: a file to keep the journal in; by default ASSAY_JOURNAL_DIR decides, else it is in memory.
    trace_events: how many single spans of each thread to keep, for a trace.
    samples: how many durations of each operation to keep one by one.
    """

    __slots__ = ()

    def _repr_html_(self):
        return None if self.closed else self.record()._repr_html_()

    def __repr__(self):
        return f"<assay monitor, {'closed' if self.closed else 'enabled' if self.enabled else 'not enabled'}>"

    def tracked(self, function=None, /, name=None):
        """Decorate a function so that its calls are measured, as assay.tracked() does."""
        return _decorate(self.operation, function, name)


default_monitor = _core.default_monitor


def record():
    """Everything that the default monitor measured so far."""
    return _core.default_monitor().record()


def print_summary(show_aggregate=True, show_bottlenecks=False, file=None):
    """Print the PERFORMANCE SUMMARY of the default monitor."""
    _core.default_monitor().print_summary(show_aggregate, show_bottlenecks, file)


def load(path):
    """A saved record, or the results of Google Benchmark, hyperfine or pyperf."""
    return _core.load(path)


def snapshot(path):
    """The record of a journal, or of all journals of a directory, whether their programs still run or not."""
    return _core.snapshot(path)


def tracked(function=None, /, name=None):
    """Decorate a function so that its calls are measured: `@assay.tracked` or `@assay.tracked("name")`.

    The name is that of the function unless another is given. A coroutine function is measured from its first step to
    its end, the time it waits included. A generator is measured while it makes an item, one span for each.
    """
    return _decorate(_core.operation, function, name)


def _decorate(operation_of, function, name):
    if isinstance(function, str):
        function, name = None, function
    if function is None:
        return lambda decorated: _decorate(operation_of, decorated, name)
    if not callable(function):
        raise TypeError(f"tracked() decorates functions, not {type(function)}")
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_decorate(operation_of, function.__func__, name))
    operation = operation_of(name if name is not None else getattr(function, "__qualname__", type(function).__name__))
    return functools.wraps(function)(_wrapper_of(function, operation))


def _wrapper_of(function, operation):
    if inspect.iscoroutinefunction(function):
        async def measured(*args, **kwargs):
            with operation:
                return await function(*args, **kwargs)
    elif inspect.isasyncgenfunction(function):
        async def measured(*args, **kwargs):
            items = function(*args, **kwargs)
            step = items.__anext__()
            try:
                while True:
                    with operation:
                        try:
                            item = await step
                        except StopAsyncIteration:      # its end, which is no failure
                            return
                    try:
                        step = items.asend((yield item))
                    except Exception as error:
                        step = items.athrow(error)
            finally:
                await items.aclose()
    elif inspect.isgeneratorfunction(function):
        def measured(*args, **kwargs):
            return (yield from _MeasuredGenerator(function(*args, **kwargs), operation))
    else:
        measured = _with_same_arguments(function, operation)
    return measured


def _with_same_arguments(function, operation):
    """A function that measures the call of another. It has the same parameters where it can: to gather arguments and to
    spread them again would cost more than the measuring."""
    scope = {"_assay_operation_": operation, "_assay_function_": function}
    code = getattr(function, "__code__", None)
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount] if code is not None else ()
    plain = isinstance(function, types.FunctionType) and not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    if not plain or not all(name.isidentifier() and name not in scope for name in names):
        def measured(*args, **kwargs):
            with operation:
                return function(*args, **kwargs)
        return measured
    positional, keywords = names[:code.co_argcount], names[code.co_argcount:]
    parameters = list(positional)
    if code.co_posonlyargcount:
        parameters.insert(code.co_posonlyargcount, "/")
    if keywords:
        parameters += ["*", *keywords]
    arguments = [*positional, *(f"{name}={name}" for name in keywords)]
    exec(f"def measured({', '.join(parameters)}):\n"
         "    with _assay_operation_:\n"
         f"        return _assay_function_({', '.join(arguments)})\n", scope)
    measured = scope["measured"]
    measured.__defaults__, measured.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return measured


class _MeasuredGenerator:
    """A generator, measured while it runs. What is sent to it and thrown into it arrives."""

    def __init__(self, generator, operation):
        self._generator = generator
        self._operation = operation

    def __iter__(self):
        return self

    def __next__(self):
        return self._run(self._generator.__next__)

    def send(self, value):
        return self._run(self._generator.send, value)

    def throw(self, *error):
        return self._run(self._generator.throw, *error)

    def close(self):
        self._generator.close()

    def _run(self, step, *args):
        # The end of a generator is a StopIteration, which is no failure.
        end = None
        with self._operation:
            try:
                return step(*args)
            except StopIteration as stop:
                end = stop
        raise end
