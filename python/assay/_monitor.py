"""The classes Monitor and Record, and the decorator tracked()."""
import functools
import inspect
import json
import tempfile
import types

from . import _core


class Plot:
    """A figure as SVG. Notebooks show it; save() writes it to a file, and str() returns the SVG text."""

    def __init__(self, svg):
        self._svg = svg

    def __str__(self):
        return self._svg

    def _repr_svg_(self):
        return self._svg

    def save(self, path):
        """Write the SVG to a file, which is replaced if it exists."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._svg)


class Record(_core.Record):
    """Everything measured about one run, as `assay compare`, `assay report` and the C library read it too."""

    __slots__ = ()

    @staticmethod
    def from_json(text):
        """Read a record, or another tool's results, from a string of JSON."""
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as file:
            file.write(text)
            file.flush()
            try:
                return _core.load(file.name)
            except ValueError as error:
                raise ValueError(str(error).replace(file.name, "the text")) from None

    @staticmethod
    def from_dict(record):
        """Make a record from a dictionary such as to_dict() returns."""
        return Record.from_json(json.dumps(record))

    def to_json(self, *, compact=False, events=False):
        """The record as a string of JSON. `events` includes the trace of single spans, which may be large."""
        return self.json(compact, events)

    def to_dict(self, *, events=False):
        """The record as a dictionary, with the keys of its JSON."""
        return json.loads(self.json(True, events))

    def to_pandas(self):
        """The operations as a pandas.DataFrame, one row each. The column `path` has the names from the outermost operation on."""
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
        """A figure of the record: "distribution", "ratios", "growth", "roofline", "timeline" or "convergence" (docs/plots.md).

        With `of` the figure shows only items with this text in their name; for growth it is the name of the parameter. `width` is in
        pixels (0 means 360).
        """
        return Plot(self.svg(kind, of, title, width))

    @property
    def comparisons(self):
        """The comparisons, as dictionaries with ratio, low, high, verdict and reason. The leading metric comes first."""
        return self.to_dict().get("comparisons", [])

    @property
    def verdict(self):
        """The verdict of the first comparison: "faster", "slower", "same" or "inconclusive". None if there is no comparison."""
        comparisons = self.comparisons
        return comparisons[0]["verdict"] if comparisons else None

    def __str__(self):
        return self.text("comparisons" if self.to_dict().get("kind") == "compare" else "text")

    def print(self, format="text", file=None):
        """Print a report; `assay report --help` lists the formats."""
        print(self.text(format), end="", file=file)

    def _repr_html_(self):
        from . import _html     # imported only when a notebook shows it
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
    journal: the file of the journal. By default it is in the folder ASSAY_JOURNAL_DIR, or in memory if that is not set.
    trace_events: how many single spans of each thread to keep, for a trace.
    samples: how many single durations of each operation to keep.
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
    """The record of everything that the default monitor has measured so far."""
    return _core.default_monitor().record()


def print_summary(show_aggregate=True, show_bottlenecks=False, file=None):
    """Print the PERFORMANCE SUMMARY of the default monitor."""
    _core.default_monitor().print_summary(show_aggregate, show_bottlenecks, file)


def load(path):
    """Load a saved record, or the results of Google Benchmark, hyperfine or pyperf."""
    return _core.load(path)


def snapshot(path):
    """The record of a journal, or of all journals of a directory. Their programs may still be running."""
    return _core.snapshot(path)


def tracked(function=None, /, name=None):
    """Decorate a function so that its calls are measured: `@assay.tracked` or `@assay.tracked("name")`.

    The name is the name of the function unless another is given. A coroutine function is measured from its first step to its end,
    including the time that it waits. A generator is measured while it produces an item, with one span for each item.
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
                        except StopAsyncIteration:      # the end of the generator is not a failure
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
    """A function that measures calls of another function. It has the same parameters if possible, because passing *args and **kwargs on
    would cost more than the measurement."""
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
    """A generator that is measured while it runs. send() and throw() are passed on to it."""

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
        # A generator ends with a StopIteration, which must not count as a failure of the span.
        end = None
        with self._operation:
            try:
                return step(*args)
            except StopIteration as stop:
                end = stop
        raise end
