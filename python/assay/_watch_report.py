"""The results of a watch: the table of modules, memory by use, FLOPs by convention, and the run record with all of these."""
import sys

from ._flops import CONVENTIONS
from ._monitor import Record

_WIDTH = 80
_NAME = 22
_ROWS = 40          # a summary lists at most this many modules, and says how many more there are


class WatchReport:
    """The methods of a watch that read its figures."""

    # ---- figures ----

    def _counted(self):
        """[(calls, tracer)] of all shapes that were traced."""
        self._expect(self._expected)        # adds the calls that the extension has counted so far
        return [(trace.calls, trace.tracer) for trace in self._traces.values() if trace.tracer is not None]

    @property
    def calls(self):
        """How often the model was called."""
        self._expect(self._expected)
        return self._others.calls + sum(trace.calls for trace in self._traces.values())

    def traced(self):
        """The tracer of the shapes with the most calls; shapes of calls with gradients come first. None before the first trace."""
        counted = [(tracer.grad, calls, tracer) for calls, tracer in self._counted() if tracer is not self._tracing]
        return max(counted, key=lambda item: item[:2])[2] if counted else None

    def _activations(self):
        tracer = self.traced()
        return tracer.activations() if tracer is not None and tracer.grad else None

    def flops(self, convention="assay"):
        """FLOPs of one call with the most frequent shapes: {module: (forward, backward)}. The figure of a module does not include its parts
        that are listed themselves, so the sum is the figure of the model. None before the first call."""
        if convention not in CONVENTIONS:
            raise ValueError(f"convention must be one of {', '.join(CONVENTIONS)}, not {convention!r}")
        tracer = self.traced()
        if tracer is None:
            return None
        return {name: tuple(tracer.flops[name][convention]) for name in self.modules if name in tracer.flops}

    def total_flops(self, convention="assay"):
        """(forward, backward) FLOPs of all calls so far, whatever their shapes. Each call with gradients counts as followed by a backward pass."""
        totals = [0, 0]
        for calls, tracer in self._counted():
            for figures in tracer.flops.values():
                for way in (0, 1):
                    totals[way] += calls * figures[convention][way]
        return tuple(totals)

    @property
    def not_counted(self):
        """The operations that the FLOPs leave out: {"every convention": operations without a price, convention: operations that it counts as 0}."""
        tracer = self.traced()
        if tracer is None:
            return {}
        found = {"every convention": sorted(tracer.unknown)}
        found.update((name, sorted(tracer.left_out[name] - set(found["every convention"]))) for name in CONVENTIONS)
        return {name: operations for name, operations in found.items() if operations}

    def notes(self):
        """Remarks that a reader of the figures needs, one sentence each."""
        notes = list(self.messages)
        tracer = self.traced()
        if tracer is not None and tracer.failed:
            notes.append(f"the call could not be traced in full: {tracer.failed}")
        if tracer is not None and tracer.without_gradients:
            notes.append("parts of the call ran without gradients, such as checkpoints and functions with a backward of their own; what these compute "
                         "in backward is not counted")
        if tracer is not None and tracer.aside:
            notes.append("torch.func has differentiated parts of the call; what these keep is not counted as activations")
        if self._silent_if_compiled and self.calls == 0:
            notes.append("no call was seen; if the program calls what torch.compile made of this model, watch that instead")
        if self._others.calls:
            notes.append(f"{self._others.calls} calls had other shapes than the first {len(self._traces)} and are not counted")
        return notes

    def times(self):
        """{module: {"calls", "forward_seconds", "backward_calls", "backward_seconds"}}: totals over the calls that were measured with parts."""
        found = {name: {"calls": 0, "forward_seconds": 0.0, "backward_calls": 0, "backward_seconds": 0.0} for name in self.modules}
        operations = self._record_of_monitor().to_dict()["operations"]
        within = []             # whether an operation lies within the model
        for operation in operations:
            name, _, kind = operation["name"].rpartition(".")
            parent = operation["parent"]
            inside = name == self.name or (parent is not None and within[parent])
            within.append(inside)
            if inside and name in found and kind in ("forward", "backward"):
                figures = found[name]
                figures["calls" if kind == "forward" else "backward_calls"] += operation["count"]
                figures[f"{kind}_seconds"] += operation["total_seconds"]
        return found

    def loading(self):
        """{"load_seconds", "compute_seconds"} of the loops that assay.steps() or a callback measured; None if there is no such loop."""
        sums = {}
        for operation in self._record_of_monitor().to_dict()["operations"]:
            if operation["name"] in ("load", "batch"):
                sums[operation["name"]] = sums.get(operation["name"], 0.0) + operation["total_seconds"]
        if len(sums) < 2:
            return None
        return {"load_seconds": sums["load"], "compute_seconds": sums["batch"]}

    # ---- the record ----

    def record(self):
        """The record of the monitor, with an entry for the model: parameters, memory by use, and FLOPs by module and convention."""
        record, memory = self._record_of_monitor().to_dict(), self.memory()
        record.setdefault("models", []).append(model_of(self.name, self._model().parameters(), memory, self.traced(), self.modules,
                                                        {"depth": max(level for _, level in self.modules.values()), "calls": self.calls}))
        return Record.from_dict(record)

    # ---- the summary ----

    def print_summary(self, file=None):
        """Print the table of modules, the memory and the FLOPs of the model, in 80 columns."""
        print(self.summary(), file=file if file is not None else sys.stdout)

    def summary(self):
        """The text that print_summary() prints."""
        lines = [f"MODEL {self.name}".center(_WIDTH).rstrip(), "=" * _WIDTH, *self._table()]
        for title, rows in (("Memory", self._memory_lines()), ("FLOPs of a call", self._flops_lines()), ("Loop", self._loop_lines())):
            if rows:
                lines += ["", *_labelled(title, rows)]
        for note in self.notes():
            lines += ["", *_folded(f"Note: {note}.", "")]
        return "\n".join(lines)

    def _table(self):
        times, sums = self.times(), self._subtrees()
        whole = times[self.name]["forward_seconds"] + times[self.name]["backward_seconds"]
        measured = times[self.name]["calls"]
        lines = [f"{'Module':<{_NAME}}{'Calls':>7}{'Forward':>9}{'Backward':>9}{'Share':>7}{'FLOPs':>8}{'GFLOP/s':>8}{'Memory':>10}",
                 "-" * _WIDTH]
        called = [name for name in self.modules if times[name]["calls"] or not measured]
        for name in called[:_ROWS]:
            lines.append(self._row(name, times[name], whole, measured, *sums[name]))
        if len(called) > _ROWS:
            lines.append(f"... and {len(called) - _ROWS} more modules")
        lines += ["-" * _WIDTH, *_folded(f"Times are means of a call, the first call of each shape left out; {measured} of {self.calls} calls were "
                                         "measured with their parts. FLOPs are of forward, memory is of parameters and activations.", "")]
        return lines

    def _row(self, name, times, whole, measured, flops, memory):
        level = self.modules[name][1]
        shown = "  " * level + (name if level == 0 else _short(name, self.modules))
        forward = times["forward_seconds"] / times["calls"] if times["calls"] else None
        backward = times["backward_seconds"] / times["backward_calls"] if times["backward_calls"] else None
        spent = times["forward_seconds"] + times["backward_seconds"]
        calls = times["calls"]
        each = flops * measured / calls if flops is not None and calls else None       # of one call of this module
        rate = each / forward / 1e9 if each and forward else None
        return (f"{_cut(shown):<{_NAME}}{calls:>7}{_seconds(forward):>9}{_seconds(backward):>9}"
                f"{_percent(spent / whole if whole and calls else None):>7}{_count(flops):>8}{_number(rate):>8}{_bytes(memory):>10}")

    def _subtrees(self):
        """{module: (FLOPs of forward, bytes of parameters and activations)}, each with the modules inside it."""
        tracer = self.traced()
        own = self.flops() or {}
        kept = tracer.activations() if tracer is not None else {}
        found = {}
        for name, (part, level) in self.modules.items():
            inside = [other for other in self.modules if level == 0 or other == name or other.startswith(f"{name}.")]
            module = part()
            parameters = sum(parameter.numel() * parameter.element_size() for parameter in module.parameters()) if module is not None else 0
            found[name] = (sum(own.get(other, (0, 0))[0] for other in inside) if tracer is not None else None,
                           parameters + sum(kept.get(other, 0) for other in inside))
        return found

    def _memory_lines(self):
        return [(use.replace("_", " "), _bytes(size)) for use, size in self.memory().items()]

    def _flops_lines(self):
        if self.traced() is None:
            return []
        rows = []
        left_out = self.not_counted
        for convention in CONVENTIONS:
            forward, backward = (sum(way) for way in zip(*self.flops(convention).values())) if self.flops(convention) else (0, 0)
            without = left_out.get(convention, [])
            rows.append((convention, f"{_count(forward)} forward, {_count(backward)} backward"
                         + (f"; without {', '.join(without)}" if without else "")))
        if "every convention" in left_out:
            rows.append(("not counted", ", ".join(left_out["every convention"])))
        return rows

    def _loop_lines(self):
        loading = self.loading()
        if loading is None:
            return []
        both = sum(loading.values())
        share = loading["load_seconds"] / both if both > 0 else None
        return [("loading data", f"{_seconds(loading['load_seconds'])} ({_percent(share)})"),
                ("computing", _seconds(loading["compute_seconds"]))]


def model_of(name, parameters, memory, tracer, components, settings):
    """The entry of a model in a run record."""
    sizes = [parameter.numel() for parameter in parameters]
    entry = {"name": name, "class_name": None, "parameters": sum(sizes) if sizes else None, "parameter_bytes": memory["parameters"],
             "gradient_bytes": memory["gradients"], "optimizer_bytes": memory["optimizer_state"],
             "activation_bytes": memory["activations"], "workspace_bytes": None, "settings": settings, "flops": []}
    if tracer is not None:
        entry["flops"] = [{"component": component, "convention": convention, "forward": forward, "backward": backward}
                          for component in components if component in tracer.flops
                          for convention, (forward, backward) in tracer.flops[component].items()]
    entry["unavailable"] = {key: "not measured" for key, value in entry.items() if value is None and key != "class_name"}
    return entry


# ---- text ----

def _short(name, modules):
    """The name of a module within the one above it that is listed."""
    above = name
    while "." in above:
        above = above.rpartition(".")[0]
        if above in modules:
            return name[len(above) + 1:]
    return name


def _cut(name):
    return name if len(name) < _NAME else f"{name[:_NAME - 4]}..."


def _scaled(value, units, base):
    for unit in units[:-1]:
        if value < 999.5:
            break
        value /= base
    else:
        unit = units[-1]
    return f"{value:.3g} {unit}".rstrip()


def _seconds(value):
    if value is None:
        return "n/a"
    return _scaled(value * 1e6, ("µs", "ms", "s"), 1000.0)


def _bytes(value):
    return _scaled(float(value), ("B", "KB", "MB", "GB", "TB"), 1024.0) if value is not None else "n/a"


def _count(value):
    return _scaled(float(value), ("", "K", "M", "G", "T", "P"), 1000.0) if value is not None else "n/a"


def _number(value):
    return f"{value:.3g}" if value is not None else "n/a"


def _percent(share):
    return f"{share:.1%}" if share is not None else "n/a"


def _labelled(title, rows):
    wide = max(len(label) for label, _ in rows) + 4
    lines = [title]
    for label, text in rows:
        lines += _folded(f"  {label:<{wide}}{text}", " " * (wide + 2))
    return lines


def _folded(text, indent):
    """The text as lines of at most 80 columns. Lines after the first begin with `indent`."""
    lines = []
    while len(text) > _WIDTH:
        cut = text.rfind(" ", len(indent) + 1, _WIDTH + 1)
        if cut < 0:
            break
        lines.append(text[:cut])
        text = indent + text[cut + 1:]
    return [*lines, text]
