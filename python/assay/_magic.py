"""The magics %assay and %%assay, which measure a statement or a cell of a notebook. `%load_ext assay` registers them."""
import ast
import inspect
import keyword
import textwrap

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class

from ._analysis import bench
from ._core import track
from ._run import run


@magics_class
class AssayMagics(Magics):
    """The magics of assay."""

    @line_magic("assay")
    def measure_statements(self, line):
        """Measure a statement, or say which of several is faster:

            %assay sorted(data)
            %assay sorted(data) ;; sorted(data, key=len)        (the first is the baseline)
            %assay -b 2 -o result predict(batch)

        -b SECONDS  time for everything (default 5 for each statement)
        -o NAME     keep the record in a variable
        -q          show nothing

        A variable that a statement assigns is local to the statement, as with %timeit.
        """
        options, rest = self._options(line, "b:o:q")
        statements = [statement.strip() for statement in rest.split(";;")]
        if not all(statements):
            raise UsageError("%assay needs a statement to measure: %assay f(x), or %assay f(x) ;; g(x)")
        try:
            budget = float(options["b"]) if "b" in options else None
        except ValueError:
            raise UsageError(f"-b takes a number of seconds, not {options['b']!r}") from None
        record = bench(*(self._function(statement) for statement in statements), names=statements, budget_seconds=budget)
        return self._result(options, record)

    @cell_magic("assay")
    def measure_cell(self, line, cell):
        """Measure a cell once, with the spans in it and the processes that it starts:

            %%assay
            with assay.track("load"):
                data = load()

        The text after the options is the name of the record.
        -s FILE     save the record
        -o NAME     keep the record in a variable
        -q          show nothing
        """
        options, name = self._options(line, "s:o:q")
        body, last = self._code(cell)
        measured = run(name.strip() or "cell", save=options.get("s"))
        if _awaits(body) or (last is not None and _awaits(last)):
            return self._measure_awaiting(options, measured, body, last)
        namespace = self.shell.user_ns
        with measured:
            with track("cell"):
                exec(body, namespace)
                value = eval(last, namespace) if last is not None else None
        return self._cell_result(options, measured, value)

    async def _measure_awaiting(self, options, measured, body, last):
        """The same for a cell with `await` outside functions. _AwaitCells makes IPython await this coroutine."""
        namespace = self.shell.user_ns
        with measured:
            with track("cell"):
                for code in (body, last):
                    value = eval(code, namespace) if code is not None else None
                    if code is not None and _awaits(code):
                        value = await value
        return self._cell_result(options, measured, value)

    def _cell_result(self, options, measured, value):
        if value is not None:
            self.shell.displayhook(value)
        return self._result(options, measured.record)

    def _options(self, line, known):
        options, rest = self.parse_options(line, known, posix=False, preserve_non_opts=True)
        if "o" in options and (not options["o"].isidentifier() or keyword.iskeyword(options["o"])):
            raise UsageError(f"-o takes the name of a variable, not {options['o']!r}")
        return options, rest

    def _result(self, options, record):
        if "o" in options:
            self.shell.user_ns[options["o"]] = record
        return None if "q" in options else record

    def _function(self, statement):
        """A function without arguments that executes the statement. It can use the variables of the notebook. It is compiled here, so that exec()
        does not count in its time."""
        source = self.shell.transform_cell(statement)
        ast.parse(source)       # a syntax error then refers to the statement as the user wrote it
        made = {}
        exec(compile(f"def call():\n{textwrap.indent(source, '    ')}", "<assay>", "exec"), self.shell.user_ns, made)
        return made["call"]

    def _code(self, cell):
        """(code of the cell without a last expression, code of that expression or None). The code has a file name by which tracebacks find the
        lines of the cell."""
        source = self.shell.transform_cell(cell)
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if self.shell.autoawait else 0
        name = self.shell.compile.cache(source, self.shell.execution_count)
        tree = self.shell.transform_ast(ast.parse(source, name))
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not cell.rstrip().endswith(";"):
            last = compile(ast.Expression(tree.body.pop().value), name, "eval", flags)
        return compile(tree, name, "exec", flags), last


def _awaits(code):
    """Whether the code has `await`, `async for` or `async with` outside functions. eval() of it then makes a coroutine."""
    return bool(code.co_flags & inspect.CO_COROUTINE)


class _AwaitCells:
    """Puts `await` in front of the call of %%assay for a cell that awaits something. IPython then runs the call in its event loop. A magic is an
    ordinary function, which could only run another loop, and what the notebook made in the loop of IPython could not be awaited there."""

    def __init__(self, shell):
        self._shell = shell

    def __call__(self, lines):
        call = "".join(lines)
        if not self._shell.autoawait or not call.startswith("get_ipython().run_cell_magic('assay',"):
            return lines
        try:
            cell = ast.literal_eval(ast.parse(call).body[0].value.args[2])
            code = compile(self._shell.transform_cell(cell), "<assay>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except SyntaxError:
            return lines        # the magic reports it
        return ["await " + lines[0], *lines[1:]] if _awaits(code) else lines


def load(shell):
    """Register the magics, for `%load_ext assay`."""
    shell.register_magics(AssayMagics)
    others = [transform for transform in shell.input_transformers_post if type(transform).__name__ != _AwaitCells.__name__]
    shell.input_transformers_post[:] = [*others, _AwaitCells(shell)]
