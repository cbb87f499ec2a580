"""The public headers keep to the grammar of the API (CONTRIBUTING.md, "The grammar of the API").

    check_grammar.py ROOT [PLANTED.h | PLANTED.c]...

Prints one line for each violation, with its place and its rule, and exits with 1 if there is any. A
planted header is checked as if it stood in include/assay, in place of the one of its name; a planted
.c file counts as a program that calls the library. Standard library only.
"""

import collections
import os
import re
import sys

CORE_MOST = 90  # functions that <assay/assay.h> brings

VERBS = set("""
    add analyze begin benchmark build calculate clear close compare compute count create describe
    detect disable dump emit enable end estimate export find fit generate get init load look make
    measure merge new open parse predict print quick read release reset run save set show start stop
    summarize take time track update write
""".split())

OUTPUT_VERBS = {"dump", "emit", "export", "output", "report", "show", "write"}

# Names that begin with a verb, because the seed checklist fixes them under the number given here.
VERB_FIRST = {
    "assay_time_operation": "A1",
    "assay_benchmark_inference": "A2 B7",
    "assay_measure_memory": "A3",
    "assay_compute_throughput": "A4",
    "assay_analyze_complexity": "A5",
    "assay_build_profile": "A6",
    "assay_compare_models": "A7",
    "assay_save_profile": "A8",
    "assay_save_comparison": "A8",
    "assay_quick_benchmark": "A9",
    "assay_compute_mvar_params": "A10",
    "assay_compute_lstm_params": "A10",
    "assay_track_time": "B0",
    "assay_print_timing_summary": "B0",
    "assay_enable_memory_tracking": "B1",
    "assay_track_time_and_memory": "B1",
    "assay_track_time_and_gpu": "B2",
    "assay_get_gpu_memory_usage": "B2",
    "assay_print_speedup_analysis": "B4",
    "assay_export_timing_csv": "B6",
    "assay_export_timing_json": "B6",
    "assay_print_inference_benchmark": "B7",
    "assay_print_warmup_analysis": "B8",
    "assay_track_performance": "C4",
    "assay_benchmark_function": "D1",
    "assay_reset_memory_stats": "D3",
    "assay_get_peak_memory": "D3",
    "assay_get_memory_breakdown": "D4",
    "assay_estimate_attention_memory": "D5",
    "assay_estimate_linear_flops": "D6",
    "assay_estimate_attention_flops": "D6",
    "assay_estimate_mpnn_flops": "D6",
    "assay_estimate_ffn_flops": "D6",
    "assay_estimate_pe_flops": "D6",
    "assay_estimate_model_flops": "D6",
    "assay_run_node_scaling": "D7",
    "assay_run_layer_scaling": "D7",
    "assay_run_pe_scaling": "D7",
    "assay_generate_scaling_graphs": "D8",
    "assay_set_seed": "D12",
    "assay_estimate_pe_storage": "D13",
    "assay_generate_trajectories_programmatic": "E11",
}

# Other output verbs that the seed checklist fixes.
OTHER_OUTPUT = {"assay_export_timing_csv": "B6", "assay_export_timing_json": "B6"}

# Structs that never grow, each with the reason.
CLOSED = {
    "assay_error": "a status and one line of text",
    "assay_reading": "a value or the reason why there is none",
    "assay_span": "the hot path passes it by value: part of the binary interface",
    "assay_gpu_span": "an open measurement, opaque",
    "assay_site": "the hot path reads it: part of the binary interface",
    "assay_performance": "an open measurement, opaque",
    "assay_stopwatch": "an open measurement, opaque",
    "assay_profiling_context": "an open measurement, opaque",
    "assay_interval": "an estimate, its two ends and their level",
    "assay_test": "a statistic and its p-value",
    "assay_record_bucket": "a value and how often it occurred",
    "assay_record_fact": "a key and its value",
    "assay_record_event": "one entry of a trace, kept small",
    "assay_record_clock": "what is recorded of a clock",
    "assay_growth_size": "the times at one size",
    "assay_growth_table": "two columns",
    "assay_report_format": "a name and its description",
    "assay_bottleneck_rule": "the columns of the table of rules",
    "assay_finding": "a rule, the operation it holds for, the evidence",
    "assay_timer_metric": "a key and its value",
    "assay_time_to_threshold": "mean and median with their intervals",
    "assay_forecast": "a function and its context",
    "assay_flops": "forward and backward",
    "assay_flop_component": "a name and its FLOPs",
    "assay_pe_config": "a name and a dimension",
    "assay_scaling_graph": "a graph as the models take it",
    "assay_tensor": "ASSAY_MODEL_ABI versions it",
    "assay_model_option": "ASSAY_MODEL_ABI versions it",
    "assay_model_input": "ASSAY_MODEL_ABI versions it",
    "assay_model_parameter": "ASSAY_MODEL_ABI versions it",
    "assay_model_memory": "ASSAY_MODEL_ABI versions it",
    "assay_model_class": "ASSAY_MODEL_ABI versions it, and its own struct_size",
    "assay_term": "ASSAY_MODEL_ABI versions it",
    "assay_memory_result": "the keys of A3",
    "assay_throughput": "the keys of A4",
    "assay_complexity": "the keys of A5",
    "assay_complexity_shape": "the arguments of A5",
    "assay_runtime_ratio": "the ratios of A7",
    "assay_runtime_comparison": "the ratios and winners of A7",
    "assay_gpu_memory": "the keys of B2",
    "assay_speedup": "the figures of B4",
    "assay_warmup": "the keys of B8",
    "assay_pass_profile": "the passes of D2",
    "assay_memory_stats": "the keys of D3",
    "assay_pe_storage": "the keys of D13",
}

# Structs that grow at their end, because only the library makes them, one at a time.
HANDED_OUT = {"assay_growth", "assay_scaling"}

# Fields without a unit in their name, because a seed fixes their key.
SEED_FIELDS = {
    "assay_timer.time": "B1",
    "assay_speedup.time": "B4",
    "assay_epoch_statistics.total_epoch_time": "C6",
    "assay_epoch_statistics.avg_epoch_time": "C6",
    "assay_epoch_statistics.total_batch_time": "C6",
    "assay_epoch_statistics.avg_batch_time": "C6",
    "assay_epoch_statistics.min_batch_time": "C6",
    "assay_epoch_statistics.max_batch_time": "C6",
    "assay_epoch_statistics.first_batch_time": "C6",
    "assay_warmup.first_epoch_time": "B8",
    "assay_warmup.avg_steady_state_time": "B8",
    "assay_runtime_ratio.training_time": "A7, a ratio",
    "assay_search_performance.total_time": "E1",
    "assay_generation_performance.throughput_traj_per_sec": "E3",
    "assay_generation_performance.total_generation_time": "E3",
}

# Calls whose status may be overlooked, each with the reason.
STATUS_UNCHECKED = {
    "assay_timers_status": "the status is the answer",
    "assay_epoch_monitor_status": "the status is the answer",
    "assay_phase_timer_start_phase": "B5; assay_timers_status keeps the first failure",
    "assay_phase_timer_end_phase": "B5; assay_timers_status keeps the first failure",
}

OF_MODELS = {"model.h", "flops.h", "profile.h", "model_scaling.h", "runtime.h", "trajectories.h"}
CALLERS = ["cli", "studies", "bench", "examples", "python"]

Function = collections.namedtuple("Function", "name place header result attributes parameters")
Struct = collections.namedtuple("Struct", "name place fields")
Parameter = collections.namedtuple("Parameter", "text name stars constant callback")


def without_comments(text):
    """The text with comments and literals blanked, every newline in its place."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    return re.sub(pattern, blank, text, flags=re.S)


def without_preprocessor(text):
    """The C of a header, the bodies of its macros, the names of its macros, its includes.

    What stands between #ifdef __cplusplus and its #else or #endif is left out; of every other
    condition both branches stay.
    """
    lines, macros, names = [], [], set()
    conditions = []
    source = iter(text.split("\n"))
    for line in source:
        if not line.lstrip().startswith("#"):
            lines.append("" if False in conditions else line)
            continue
        directive, extra = line.strip(), 0
        while directive.endswith("\\"):
            directive = directive[:-1] + " " + next(source).strip()
            extra += 1
        lines.extend([""] * (extra + 1))
        word = re.match(r"#\s*(\w+)", directive).group(1)
        if word in ("if", "ifdef", "ifndef"):
            conditions.append("__cplusplus" not in directive)
        elif word in ("else", "elif"):
            conditions[-1] = True
        elif word == "endif":
            conditions.pop()
        elif word == "define" and False not in conditions:
            names.add(re.match(r"#\s*define\s+(\w+)", directive).group(1))
            macros.append(directive)
    return "\n".join(lines), macros, names


def declarations(text):
    """(line, text) of each declaration at the top level; bodies of functions are left out."""
    found, start, depth, position = [], 0, 0, 0
    while position < len(text):
        char = text[position]
        if char == "{" and depth == 0 and text[start:position].rstrip().endswith(")"):
            body_end = matching(text, position)
            found.append((start, text[start:position]))
            position, start = body_end, body_end + 1
        elif char in "({[":
            depth += 1
        elif char in ")}]":
            depth -= 1
        elif char == ";" and depth == 0:
            found.append((start, text[start:position]))
            start = position + 1
        position += 1
    for begin, declaration in found:
        begin += len(declaration) - len(declaration.lstrip())
        yield text.count("\n", 0, begin) + 1, " ".join(declaration.split())


def matching(text, position):
    depth = 0
    for index in range(position, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return index
    raise SystemExit("a brace is never closed")


def split_top(text, separator):
    """Split where no bracket is open."""
    parts, depth, current = [], 0, ""
    for char in text:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(char, 0)
        if char == separator and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += char
    return parts + [current.strip()] if current.strip() else parts


def parameter(text):
    callback = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", text)
    if callback:
        return Parameter(text, callback.group(1), 1, False, True)
    array = re.search(r"(\w+)\s*\[[^\]]*\]$", text)
    name = array.group(1) if array else re.search(r"(\w+)$", text).group(1)
    kind = text[: text.rindex(name)]
    stars = kind.count("*") + (1 if array else 0)
    pointee = kind if array else kind.rpartition("*")[0].strip()
    constant = pointee.endswith("const") or ("*" not in pointee and "const" in pointee.split())
    return Parameter(text, name, stars, constant, False)


def fields(body):
    """(name, declaration) of each field, those of anonymous unions and structs included."""
    for member in split_top(body, ";"):
        inner = re.match(r"(?:union|struct)\s*\{(.*)\}$", member, re.S)
        if inner:
            yield from fields(inner.group(1))
            continue
        callback = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", member)
        if callback:
            yield callback.group(1), member
            continue
        for declarator in split_top(member, ","):
            yield re.search(r"(\w+)\s*(?:\[[^\]]*\])*$", declarator).group(1), member


class Interface:
    """Everything the headers declare."""

    def __init__(self, root, planted):
        self.functions, self.structs, self.macros = [], [], []
        self.macro_names, self.includes = set(), {}
        folder = os.path.join(root, "include", "assay")
        paths = {name: os.path.join(folder, name) for name in sorted(os.listdir(folder))}
        paths.update({os.path.basename(path): path for path in planted})
        for header, path in paths.items():
            with open(path, encoding="utf-8") as file:
                self.read(header, file.read())

    def read(self, header, text):
        self.includes[header] = re.findall(r'^#include "assay/(\w+\.h)"', text, re.M)
        code, macros, names = without_preprocessor(without_comments(text))
        self.macros += macros
        self.macro_names |= names
        for line, declaration in declarations(code):
            self.declare(header, "include/assay/%s:%d" % (header, line), declaration)

    def declare(self, header, place, text):
        struct = re.match(r"typedef struct assay_\w* ?\{(.*)\} ?(assay_\w+)$", text)
        if struct and not struct.group(2).startswith("assay__"):
            self.structs.append(Struct(struct.group(2), place, list(fields(struct.group(1)))))
        if text.startswith(("typedef", "enum", "extern")):
            return
        attributes = set(re.findall(r"\b(ASSAY_\w+|static|inline)\b", text))
        text = re.sub(r"\bASSAY_+\w+(\([^)]*\))?|\b(static|inline)\b", " ", text)
        function = re.match(r"\s*([^()]*?)\b(assay_[a-z0-9]\w*) ?\((.*)\)\s*$", text)
        if function:
            result, name, inside = function.groups()
            inside = [] if inside.strip() == "void" else split_top(inside, ",")
            self.functions.append(Function(name, place, header, " ".join(result.split()), attributes,
                                           [parameter(each) for each in inside]))


class Checker:
    def __init__(self, root, planted):
        self.root = root
        self.complaints = []
        self.exempted = set()
        self.planted_callers = [path for path in planted if path.endswith(".c")]
        self.interface = Interface(root, [path for path in planted if path.endswith(".h")])

    def complain(self, place, rule, text):
        self.complaints.append("%s: rule %d: %s" % (place, rule, text))

    def exempt(self, name, exemptions):
        if name in exemptions:
            self.exempted.add(name)
        return name in exemptions

    def run(self):
        for function in self.interface.functions:
            self.check_name(function)
            self.check_output(function)
            self.check_error(function)
            self.check_options(function)
            self.check_counts(function)
            self.check_life(function)
            self.check_result(function)
        for struct in self.interface.structs:
            self.check_growth(struct)
            self.check_fields(struct)
        self.check_core()
        self.check_callers()
        self.check_exemptions()
        return self.complaints

    # 1. The noun comes first.
    def check_name(self, function):
        first = function.name.split("_")[1]
        if first in VERBS and not self.exempt(function.name, VERB_FIRST):
            self.complain(function.place, 1, "%s begins with the verb '%s'; the noun comes first"
                          % (function.name, first))

    # 2. print to a stream, save to a path, and no third way.
    def check_output(self, function):
        words = function.name.split("_")[1:]
        if "print" in words and not any("FILE *" in each.text for each in function.parameters):
            self.complain(function.place, 2, "%s prints, and takes no FILE *" % function.name)
        if "save" in words and not any(each.name == "path" for each in function.parameters):
            self.complain(function.place, 2, "%s saves, and takes no path" % function.name)
        for verb in sorted(OUTPUT_VERBS.intersection(words[1:] if words[0] == "report" else words)):
            if not self.exempt(function.name, OTHER_OUTPUT):
                self.complain(function.place, 2, "%s says '%s'; output is 'print' to a stream or "
                              "'save' to a path" % (function.name, verb))

    # 3. Subject, inputs, options, error, out; an array before its count.
    def check_error(self, function):
        parameters = function.parameters
        places = [i for i, each in enumerate(parameters) if "assay_error *" in each.text]
        if not places:
            return
        for each in parameters[places[0] + 1:]:
            if each.stars == 0 or each.constant or each.callback:
                self.complain(function.place, 3, "%s: '%s' is no result, and stands behind the error"
                              % (function.name, each.name))
        for each in parameters[1:places[0]]:
            opaque = re.match(r"(FILE|void) \*\w+$", each.text)
            if each.stars > 0 and not (each.constant or each.callback or opaque):
                self.complain(function.place, 3, "%s: the result '%s' stands before the error"
                              % (function.name, each.name))

    def check_options(self, function):
        parameters = function.parameters
        for i, each in enumerate(parameters):
            if not re.match(r"const assay_\w+_options \*", each.text):
                continue
            if i + 1 < len(parameters) and "assay_error *" in parameters[i + 1].text:
                continue
            for later in parameters[i + 1:]:
                if later.stars == 0 or later.constant or later.callback:
                    self.complain(function.place, 3, "%s: '%s' stands behind the options; options "
                                  "come after the inputs" % (function.name, later.name))

    def check_counts(self, function):
        parameters = function.parameters
        for i, each in enumerate(parameters):
            if not re.match(r"size_t (\w+_)?count$", each.text):
                continue
            before = parameters[i - 1] if i > 0 else None
            after = parameters[i + 1] if i + 1 < len(parameters) else None
            is_subject = (before is not None and before.stars == 1 and
                          re.search(r"_%s \*" % before.name, before.text))
            leads_array = (after is not None and after.stars > 0 and after.constant and
                           not re.match(r"const assay_\w+_options \*", after.text))
            if before is None or before.stars == 0 or (is_subject and leads_array):
                self.complain(function.place, 3, "%s: '%s' does not stand directly behind its array"
                              % (function.name, each.name))

    # 4. What is made can be unmade, and what the caller fills has a start.
    def check_life(self, function):
        names = {each.name for each in self.interface.functions}
        made = re.match(r"(assay_\w+?)_new(_\w+)?$", function.name)
        if made and made.group(1) + "_free" not in names:
            self.complain(function.place, 4, "%s has no %s_free" % (function.name, made.group(1)))
        starts = {each.name for each in self.interface.structs
                  if each.fields and each.fields[0][0] == "struct_size"}
        for each in function.parameters:
            given = re.match(r"const (assay_\w+) \*\w+$", each.text)
            if given and given.group(1) in starts and not self.has_start(given.group(1), names):
                self.complain(function.place, 4, "%s takes %s, which has neither %s_INIT nor _init "
                              "nor _new" % (function.name, given.group(1), given.group(1).upper()))

    def has_start(self, struct, names):
        return (struct.upper() + "_INIT" in self.interface.macro_names or
                not names.isdisjoint({struct + "_init", struct + "_new"}))

    # 4 and 5. A struct can grow.
    def check_growth(self, struct):
        sized = struct.fields[0] == ("struct_size", "size_t struct_size")
        if struct.name.endswith("_options"):
            if not sized:
                self.complain(struct.place, 4, "%s does not begin with size_t struct_size"
                              % struct.name)
            if struct.name.upper() + "_INIT" not in self.interface.macro_names:
                self.complain(struct.place, 4, "%s has no %s_INIT"
                              % (struct.name, struct.name.upper()))
            return
        if not (sized or struct.fields[-1][0] == "reserved" or
                self.exempt(struct.name, HANDED_OUT) or self.exempt(struct.name, CLOSED)):
            self.complain(struct.place, 5, "%s cannot grow: it neither begins with struct_size nor "
                          "ends with reserved, and is not listed as closed" % struct.name)

    # 6. Units are seconds, nanoseconds and bytes, and stand in the name.
    def check_fields(self, struct):
        for name, _ in struct.fields:
            wrong = re.search(r"(?:^|_)(kb|mb|gb|kib|mib|gib|ms|us|sec|time|duration|elapsed)$", name)
            full_name = struct.name + "." + name
            if wrong and not self.exempt(full_name, SEED_FIELDS):
                self.complain(struct.place, 6, "%s ends in '%s'; durations are _seconds or _ns, sizes "
                              "_bytes" % (full_name, wrong.group(1)))

    # 7. A status is not overlooked.
    def check_result(self, function):
        if (function.result == "assay_status" and "ASSAY_MUST_USE" not in function.attributes and
                "print" not in function.name.split("_") and
                not self.exempt(function.name, STATUS_UNCHECKED)):
            self.complain(function.place, 7, "%s can fail and is not ASSAY_MUST_USE" % function.name)

    # 8. The front door is small.
    def check_core(self):
        core, waiting = set(), ["assay.h"]
        while waiting:
            header = waiting.pop()
            if header not in core:
                core.add(header)
                waiting += self.interface.includes[header]
        count = sum(1 for each in self.interface.functions if each.header in core)
        print("the core tier has %d functions of at most %d" % (count, CORE_MOST))
        if count > CORE_MOST:
            self.complain("include/assay/assay.h:1", 8, "the core tier has %d functions, more than %d"
                          % (count, CORE_MOST))

    # 9. What is public is used.
    def check_callers(self):
        callers = self.words_of(CALLERS, self.planted_callers)
        of_libassay = callers | self.words_of(["models"], [])
        in_macros = set(re.findall(r"\bassay_\w+", "\n".join(self.interface.macros)))
        for function in self.interface.functions:
            known = callers if function.header in OF_MODELS else of_libassay
            if function.name not in known and function.name not in in_macros:
                self.complain(function.place, 9, "nothing outside its library calls %s: an example is "
                              "missing, or it is not public" % function.name)

    def words_of(self, folders, paths):
        paths = list(paths)
        for folder in folders:
            for where, _, names in os.walk(os.path.join(self.root, folder)):
                paths += [os.path.join(where, name) for name in names
                          if name.endswith((".c", ".h", ".cc"))]
        words = set()
        for path in paths:
            with open(path, encoding="utf-8") as file:
                words.update(re.findall(r"\bassay_\w+", without_comments(file.read())))
        return words

    # The lists above name nothing that does not need it.
    def check_exemptions(self):
        listed = set().union(VERB_FIRST, CLOSED, HANDED_OUT, SEED_FIELDS, STATUS_UNCHECKED)
        for name in sorted(listed - self.exempted):
            self.complaints.append("tests/package/check_grammar.py: the exemption of %s is not needed"
                                   % name)


def main():
    complaints = Checker(sys.argv[1], sys.argv[2:]).run()
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
