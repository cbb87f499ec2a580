"""Shows records, fits and monitors in notebooks, as HTML tables with bars.

Colours are inherited or half transparent, so that they suit light and dark pages. Styles are attributes of the elements, because notebooks that
are not trusted drop style sheets. The HTML loads nothing from elsewhere, and every name is escaped.
"""
import html
import math

from ._format import digits, interval, ratio, seconds, size

_BAR = "rgba(70,130,220,.35)"
_VERDICTS = {"slower": "rgba(220,60,50,.35)", "faster": "rgba(50,160,80,.35)", "same": "rgba(128,128,128,.25)",
             "inconclusive": "rgba(230,170,30,.35)"}
_ROWS = 200         # at most this many rows in one table, so that a notebook stays readable
_COSTLIEST = 10     # rows of a table that answers "what costs most?"
_RUN = (("wall time", "wall_seconds", seconds), ("user", "user_seconds", seconds), ("system", "sys_seconds", seconds),
        ("peak memory, largest process", "peak_rss_bytes", size), ("peak memory, all processes", "tree_peak_rss_bytes", size),
        ("peak of the heap", "heap_peak_bytes", size), ("allocations", "heap_allocations", digits))
_MODEL = (("parameters", "parameters", digits), ("their memory", "parameter_bytes", size), ("gradients", "gradient_bytes", size),
          ("optimizer", "optimizer_bytes", size), ("activations", "activation_bytes", size), ("workspace", "workspace_bytes", size))


# ---- elements ----

class _Markup(str):
    """Text that is already HTML and must not be escaped."""


def _escape(value):
    return value if isinstance(value, _Markup) else html.escape(str(value))


def _cell(value, left=False, style="", tag="td"):
    align = "left" if left else "right"
    return f'<{tag} style="text-align:{align};white-space:nowrap;padding:.15em .7em;{style}">{_escape(value)}</{tag}>'


def _bar(text, share):
    """A figure with a bar behind it."""
    end = f"{100 * min(max(share, 0), 1):.1f}%" if share == share else "0%"
    return text, f"background:linear-gradient(to right,{_BAR} {end},transparent {end});"


def _table(heads, rows):
    """A table. Rows hold values or (value, style). The first column is text, and so is every column whose heading begins with a space."""
    left = [index == 0 or head.startswith(" ") for index, head in enumerate(heads)]
    lines = ["<tr>" + "".join(_cell(head.strip(), side, tag="th") for head, side in zip(heads, left)) + "</tr>"]
    for row in rows[:_ROWS]:
        cells = [value if isinstance(value, tuple) else (value, "") for value in row]
        lines.append("<tr>" + "".join(_cell(value, side, style) for (value, style), side in zip(cells, left)) + "</tr>")
    if len(rows) > _ROWS:
        lines.append(f"<tr>{_cell(f'… and {len(rows) - _ROWS} more', True)}</tr>")
    return '<table style="border-collapse:collapse;margin:.3em 0">' + "".join(lines) + "</table>"


def _paragraph(text, strong=False):
    return f'<div style="margin:.3em 0">{"<b>" if strong else ""}{_escape(text)}{"</b>" if strong else ""}</div>'


def _whole(parts):
    return '<div class="assay">' + "".join(part for part in parts if part) + "</div>"


def _largest(values):
    return max((value for value in values if value is not None), default=0) or math.inf


# ---- records ----

def of_record(record):
    """The HTML of a record, given as the dictionary of its to_dict()."""
    title = " · ".join(str(part) for part in (record.get("name"), record.get("study") or record.get("kind"), record.get("created")) if part)
    parts = [_paragraph(title, strong=True), _figures_of(record, _RUN)]
    parts += [_figures_of(model, _MODEL, f"model {model['name']}") for model in record.get("models", [])]
    parts += [_subjects(record.get("subjects", [])), _comparisons(record.get("comparisons", [])), _operations(record.get("operations", [])),
              _metrics(record.get("metrics", [])), _script(record.get("python")), _gpu(record.get("gpu"))]
    if not any(parts[1:]):
        parts.append(_paragraph("nothing was measured"))
    lost = {key.replace("_", " "): count for key, count in record.get("integrity", {}).items() if count}
    if lost:
        parts.append(_paragraph("not recorded: " + ", ".join(f"{count} {what}" for what, count in lost.items())))
    return _whole(parts)


def _figures_of(source, figures, title=None):
    rows = [(label, show(source[key])) for label, key, show in figures if source.get(key) is not None]
    return (_paragraph(title, strong=True) if title and rows else "") + (_table(("", ""), rows) if rows else "")


def _label(subject):
    parameters = ", ".join(f"{key}={value}" for key, value in (subject.get("parameters") or {}).items())
    origin = subject.get("origin")
    return subject["name"] + (f" ({parameters})" if parameters else "") + (f", {origin}" if origin else "")


def _subjects(subjects):
    if not subjects:
        return ""
    most = _largest(subject["mean_seconds"] for subject in subjects)
    rows = [(_label(subject), _bar(seconds(subject["mean_seconds"]), (subject["mean_seconds"] or 0) / most),
             interval(subject["low_seconds"], subject["high_seconds"], seconds), seconds(subject["median_seconds"]),
             len(subject["samples_seconds"])) for subject in subjects]
    return _table(("subject", "mean", "95 % interval", "median", "samples"), rows)


def _comparisons(comparisons):
    if not comparisons:
        return ""
    shown = [found for found in comparisons if not found.get("beside") or found["verdict"] in ("slower", "faster")]
    ends = [abs(math.log(end)) for found in shown for end in (found["low"], found["high"]) if end is not None and end > 0]
    reach = max([*ends, 0.05]) * 1.1
    reasons = any(found["reason"] for found in shown)
    rows = [(_sides(found), found["metric"].replace("_seconds", " time").replace("_bytes", "").replace("_", " "), ratio(found["ratio"]),
             interval(found["low"], found["high"]), _interval_plot(found, reach),
             (found["verdict"], f"background:{_VERDICTS.get(found['verdict'], 'none')};"),
             *([found["reason"] or ""] if reasons else [])) for found in shown]
    note = "ratio: the second over the first"
    if shown:
        note += f"; the line stands at 1, and up to 1 ± {100 * shown[0]['margin']:.4g} % counts as the same"
    return _table(("comparison", " metric", "ratio", "95 % interval", " ", " verdict", *([" reason"] if reasons else [])), rows) + _paragraph(note)


def _sides(found):
    """The names of both sides of a comparison. If they have the same name, the name and both origins."""
    names = [found["baseline"], found["candidate"]]
    origins = [found.get("baseline_origin"), found.get("candidate_origin")]
    if names[0] == names[1] and all(origins):
        return f"{names[0]}: {origins[0]} → {origins[1]}"
    return " → ".join(name + (f", {origin}" if origin else "") for name, origin in zip(names, origins))


def _interval_plot(found, reach):
    """The interval on a logarithmic axis, with a line at 1."""
    if not found["low"] or not found["high"]:
        return ""
    low, high = (50 + 50 * math.log(end) / reach for end in (found["low"], found["high"]))
    return _Markup('<div style="position:relative;width:9em;height:1em">'
                   '<div style="position:absolute;left:50%;width:1px;height:100%;background:currentColor;opacity:.5"></div>'
                   f'<div style="position:absolute;left:{low:.1f}%;width:{max(high - low, 3):.1f}%;top:30%;height:40%;'
                   f'background:{_VERDICTS.get(found["verdict"], _BAR).replace(".35", ".9")}"></div></div>')


def _operations(operations):
    if not operations:
        return ""
    most, whole = _largest(op["total_seconds"] for op in operations), sum(op["self_seconds"] or 0 for op in operations) or math.inf
    memory = any(op.get("rss_delta_bytes") is not None for op in operations)
    rows = []
    for index in _tree_order(operations):
        op, depth = operations[index], _depth(operations, index)
        own = (op["self_seconds"] or 0) / whole
        rows.append(((op["name"], f"padding-left:{1.2 * depth + .7:.1f}em;"), op["count"], _bar(seconds(op["total_seconds"]), op["total_seconds"] / most),
                     _bar(f"{100 * own:.1f} %", own), seconds(op["mean_seconds"]), seconds(op["p50_seconds"]), seconds(op["p99_seconds"]),
                     *([_signed(op.get("rss_delta_bytes"))] if memory else [])))
    heads = ("operation", "count", "total", "self", "mean", "p50", "p99", *(["memory"] if memory else []))
    return _table(heads, rows)


def _signed(change):
    return "n/a" if change is None else ("+" if change >= 0 else "") + size(change)


def _depth(operations, index):
    depth = 0
    while operations[index]["parent"] is not None:
        index, depth = operations[index]["parent"], depth + 1
    return depth


def _tree_order(operations):
    """The indices of the operations as a tree: each one after its parent, and children by their total time, longest first."""
    children = {}
    for index, op in enumerate(operations):
        children.setdefault(op["parent"], []).append(index)
    waiting = sorted(children.get(None, []), key=lambda index: operations[index]["total_seconds"])
    while waiting:
        index = waiting.pop()
        yield index
        waiting += sorted(children.get(index, []), key=lambda child: operations[child]["total_seconds"])


def _metrics(metrics):
    if not metrics:
        return ""
    most = _largest(metric["duration_seconds"] for metric in metrics)
    rows = [(metric["operation"], _bar(seconds(metric["duration_seconds"]), metric["duration_seconds"] / most), _signed(metric.get("cpu_delta_bytes")))
            for metric in metrics]
    return _table(("recorded one by one", "time", "memory"), rows)


# ---- Python scripts and GPUs ----

def _costliest(title, heads, rows):
    return _paragraph(title, strong=True) + _table(heads, rows) if rows else ""


def _share(part, whole):
    share = part / whole if whole else 0
    return _bar(f"{100 * share:.1f} %", share)


def _place(code):
    """`train.py:42`; the folder tells files like `__init__.py` apart."""
    parts = code["file"].split("/")
    names = parts[-2:] if parts[-1].startswith("__") else parts[-1:]
    return "/".join(names) + f":{code['line']}"


def _native(code):
    native = code["native_seconds"]
    return f"{100 * native / code['self_seconds']:.0f} %" if native is not None and code["self_seconds"] > 0 else "n/a"


def _source(code):
    return code.get("source", ""), "font-family:monospace;"


def _script(python):
    """Where the time and the memory of Python programs went, by line and function."""
    if not python:
        return ""
    busy, most = python["busy_seconds"], python.get("allocated_bytes") or 0
    lines = [(_place(line), _share(line["self_seconds"], busy), seconds(line["self_seconds"]), _native(line), _source(line))
             for line in python["lines"][:_COSTLIEST] if line["self_seconds"] > 0]
    functions = [(f"{code['name']} ({_place(code)})", _share(code["self_seconds"], busy), seconds(code["self_seconds"]), _native(code),
                  seconds(code["total_seconds"])) for code in python["functions"][:_COSTLIEST] if code["self_seconds"] > 0]
    waiting = sorted(python["lines"], key=lambda line: -line["waiting_seconds"])
    waiting = [(_place(line), seconds(line["waiting_seconds"]), _source(line)) for line in waiting[:_COSTLIEST // 2]
               if line["waiting_seconds"] > 0.1 * python["waiting_seconds"]]
    allocations = [(_place(line), _share(line["bytes"], most), size(line["bytes"]), size(line["peak_bytes"]), _source(line))
                   for line in python.get("allocations", [])[:_COSTLIEST]]
    return (_costliest(f"Python: {seconds(busy)} of processor time, {seconds(python['waiting_seconds'])} waiting",
                       ("line", "share", "own time", "native", " "), lines) +
            _costliest("functions", ("function", "share", "own time", "native", "total"), functions) +
            _costliest("lines at which the main thread waited", ("line", "waited", " "), waiting) +
            _costliest("lines that allocated the most Python memory", ("line", "share", "allocated", "at peak", " "), allocations))


def _gpu(gpu):
    """What GPUs did, as `assay run --gpu` saw it: kernels, copies, and why there was no kernel."""
    if not gpu:
        return ""
    span = gpu["span_seconds"]
    kernels = [(kernel["name"], _share(kernel["share"], 1), kernel["count"], seconds(kernel["total_seconds"]), seconds(kernel["mean_seconds"]))
               for kernel in gpu["kernels"][:_COSTLIEST]]
    copies = [(" ".join(filter(None, (copy["direction"], copy.get("memory")))), copy["count"], size(copy["bytes"]), seconds(copy["seconds"]))
              for copy in gpu["copies"][:_COSTLIEST]]
    idle = [(gap["cause"], _share(gap["seconds"], span), seconds(gap["seconds"]), gap["count"]) for gap in gpu["idle"][:_COSTLIEST]]
    return (_costliest(f"GPU: kernels ran for {seconds(gpu['kernel_seconds'])} of {seconds(span)}",
                       ("kernel", "share", "launches", "total", "mean"), kernels) +
            _costliest("copies", ("copy", "count", "volume", "time"), copies) +
            _costliest("without a kernel, by likely cause", ("cause", "share", "time", "count"), idle))


# ---- others ----

def of_growth(found):
    """The HTML of a fit, given as the dictionary of its to_dict()."""
    name = found["class"]
    title = f"grows as {name}" if name is not None else "growth not known"
    if found["exponent"] is not None:
        title += f", exponent {digits(found['exponent'])} (95 % interval {interval(found['low'], found['high'], digits)})"
    parts = [_paragraph(title, strong=True), _paragraph(found["reason"]) if found["reason"] else ""]
    most = _largest(value for point in found["sizes"] for value in (point["median_seconds"], point["fitted_seconds"]))
    rows = [(digits(point["n"]), _bar(seconds(point["median_seconds"]), point["median_seconds"] / most),
             _bar(seconds(point["fitted_seconds"]), (point["fitted_seconds"] or 0) / most), point["values"]) for point in found["sizes"]]
    rows += [(digits(point["n"]), "", seconds(point["seconds"]), "predicted") for point in found["predictions"]]
    return _whole([*parts, _table(("n", "median", "fitted", "values"), rows)])


def of_dictionary(title, figures):
    """The HTML of figures by name, as the modules of the seed documents return them. Nested dictionaries become tables below."""
    def shown(key, value):
        if not isinstance(value, float):
            return value
        return seconds(value) if key.endswith(("_seconds", "_s")) else digits(value)
    rows = [(key.replace("_", " "), shown(key, value)) for key, value in figures.items() if not isinstance(value, dict)]
    parts = [_paragraph(title, strong=True), _table(("", " "), rows) if rows else ""]
    parts += [of_dictionary(key.replace("_", " "), value) for key, value in figures.items() if isinstance(value, dict) and value]
    return _whole(parts)
