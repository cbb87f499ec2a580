"""The magics %assay and %%assay, which measure a statement or a cell of a notebook. `%load_ext assay` registers them."""
import ast
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
        namespace = self.shell.user_ns
        with run(name.strip() or "cell", save=options.get("s")) as measured:
            with track("cell"):
                exec(body, namespace)
                value = eval(last, namespace) if last is not None else None
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
        name = self.shell.compile.cache(source, self.shell.execution_count)
        tree = self.shell.transform_ast(ast.parse(source, name))
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not cell.rstrip().endswith(";"):
            last = compile(ast.Expression(tree.body.pop().value), name, "eval")
        return compile(tree, name, "exec"), last


def load(shell):
    """Register the magics, for `%load_ext assay`."""
    shell.register_magics(AssayMagics)
