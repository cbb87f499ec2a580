/* Makes the list of all commands of a benchmark, each with every combination of the parameters. The
 * first parameter changes slowest. Within one combination the commands have the order in which they
 * were given, with the commands of --command first. */
#include "cli/bench_plan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "assay/sampling.h"
#include "cli/common/message.h"
#include "cli/number_range.h"

/* The commands before parameters are filled in. */
typedef struct templates {
    words *items;
    const char **labels; /* NULL if the commands are named after their words */
    size_t count;
    words prepare, cleanup;
} templates;

static int out_of_memory(void)
{
    message_error("assay bench: out of memory");
    return EX_OSERR;
}

static int split_text(const char *text, bool shell, words *result)
{
    const char *problem = NULL;
    if (shell) {
        char *line[] = {(char[]){"sh"}, (char[]){"-c"}, strdup(text)};
        int code = line[2] != NULL && words_copy(line, 3, result) == 0 ? EX_OK : out_of_memory();
        free(line[2]);
        return code;
    }
    if (words_split(text, result, &problem) == 0)
        return EX_OK;
    message_error("assay bench: the command '%s' %s", text, problem);
    return EX_USAGE;
}

/* Join the operands by blanks into one line for `sh -c`. Nothing is quoted: the shell interprets
 * the line. */
static int join_for_shell(char *const *items, size_t count, words *result)
{
    char *line = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&line, &length);
    for (size_t i = 0; stream != NULL && i < count; i++)
        fprintf(stream, "%s%s", i > 0 ? " " : "", items[i]);
    if (stream == NULL || fclose(stream) != 0) {
        free(line);
        return out_of_memory();
    }
    int code = split_text(line, true, result);
    free(line);
    return code;
}

static int take_operands(const bench_request *request, templates *made)
{
    int from = 0;
    for (int at = 0; at <= request->operand_count && request->operand_count > 0; at++) {
        if (at < request->operand_count && strcmp(request->operands[at], "--") != 0)
            continue;
        if (at == from) {
            message_error("assay bench: an empty command between '--' and '--'; to pass '--' to a "
                          "command use --command");
            return EX_USAGE;
        }
        char *const *items = request->operands + from;
        size_t count = (size_t)(at - from);
        words *to = &made->items[made->count];
        int code = request->shell                      ? join_for_shell(items, count, to)
                   : words_copy(items, count, to) == 0 ? EX_OK
                                                       : out_of_memory();
        if (code != EX_OK)
            return code;
        made->count++;
        from = at + 1;
    }
    return EX_OK;
}

static int make_templates(const bench_request *request, templates *made)
{
    size_t most = request->commands->count + (size_t)request->operand_count + 1;
    made->items = calloc(most, sizeof *made->items);
    if (made->items == NULL)
        return out_of_memory();
    int code = EX_OK;
    for (size_t i = 0; i < request->commands->count && code == EX_OK; i++) {
        code = split_text(request->commands->items[i], request->shell, &made->items[made->count]);
        made->count += code == EX_OK;
    }
    if (code == EX_OK)
        code = take_operands(request, made);
    if (code == EX_OK && request->prepare != NULL)
        code = split_text(request->prepare, request->shell, &made->prepare);
    if (code == EX_OK && request->cleanup != NULL)
        code = split_text(request->cleanup, request->shell, &made->cleanup);
    if (code != EX_OK)
        return code;
    if (made->count == 0) {
        message_error("assay bench: no command to measure; write: assay bench -- COMMAND "
                      "ARGUMENT... [-- COMMAND ARGUMENT...]");
        return EX_USAGE;
    }
    if (request->labels->count > 0 && request->labels->count != made->count) {
        message_error("assay bench: labels: %zu, commands: %zu; give --label once for each command",
                      request->labels->count, made->count);
        return EX_USAGE;
    }
    made->labels = request->labels->count > 0 ? (const char **)request->labels->items : NULL;
    return EX_OK;
}

static void release_templates(templates *made)
{
    for (size_t i = 0; i < made->count; i++)
        words_release(&made->items[i]);
    free(made->items);
    words_release(&made->prepare);
    words_release(&made->cleanup);
}

static bool is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
            return false;
    return length > 0;
}

/* Append one value, or the numbers of a range. */
static int take_value(const char *text, size_t length, words *values)
{
    const char *problem = NULL;
    char *value = strndup(text, length);
    if (value == NULL)
        return out_of_memory();
    number_range_result range = number_range_expand(value, values, &problem);
    if (range == NUMBER_RANGE_NONE && number_range_append(values, value, length) != 0)
        range = NUMBER_RANGE_MEMORY;
    if (range == NUMBER_RANGE_WRONG)
        message_error("assay bench: '%s' %s", value, problem);
    free(value);
    return range == NUMBER_RANGE_MEMORY  ? out_of_memory()
           : range == NUMBER_RANGE_WRONG ? EX_USAGE
                                         : EX_OK;
}

/* "size=1,2,4", "size=1..64*2,100" */
static int parse_parameter(const char *text, bench_parameter *parameter)
{
    const char *equals = strchr(text, '=');
    size_t length = equals != NULL ? (size_t)(equals - text) : 0;
    if (!is_name(text, length) || equals[1] == '\0') {
        message_error("assay bench: '%s' is no parameter; write NAME=VALUE,VALUE,... or "
                      "NAME=FROM..TO",
                      text);
        return EX_USAGE;
    }
    parameter->name = strndup(text, length);
    if (parameter->name == NULL)
        return out_of_memory();
    for (const char *at = equals + 1;; at++) {
        size_t size = strcspn(at, ",");
        if (size == 0) {
            message_error("assay bench: parameter '%s' has an empty value", parameter->name);
            return EX_USAGE;
        }
        int code = take_value(at, size, &parameter->values);
        if (code != EX_OK)
            return code;
        at += size;
        if (*at == '\0')
            return EX_OK;
    }
}

static int parse_parameters(const option_list *typed, bench_plan *plan)
{
    plan->parameters = calloc(typed->count + 1, sizeof *plan->parameters);
    if (plan->parameters == NULL)
        return out_of_memory();
    for (size_t i = 0; i < typed->count; i++) {
        bench_parameter *parameter = &plan->parameters[plan->parameter_count++];
        int code = parse_parameter(typed->items[i], parameter);
        if (code != EX_OK)
            return code;
        for (size_t j = 0; j < i; j++)
            if (strcmp(plan->parameters[j].name, parameter->name) == 0) {
                message_error("assay bench: parameter '%s' is given twice", parameter->name);
                return EX_USAGE;
            }
    }
    return EX_OK;
}

static int fill_in(words *changed, const char *name, const char *value, bool *used)
{
    int count = changed->count > 0 ? words_replace(changed, name, value) : 0;
    *used = *used || count > 0;
    return count < 0 ? out_of_memory() : EX_OK;
}

/* Put the values of combination number `index` into the parameters and the words of the entry. */
static int set_parameters(bench_plan *plan, size_t index, bench_entry *entry)
{
    entry->parameters = calloc(plan->parameter_count + 1, sizeof *entry->parameters);
    if (entry->parameters == NULL)
        return out_of_memory();
    entry->parameter_count = plan->parameter_count;
    for (size_t i = plan->parameter_count; i-- > 0;) {
        bench_parameter *parameter = &plan->parameters[i];
        const char *value = parameter->values.items[index % parameter->values.count];
        index /= parameter->values.count;
        entry->parameters[i] = (assay_record_fact){parameter->name, value, ASSAY_VALID};
        words *all[] = {&entry->command, &entry->prepare, &entry->cleanup};
        for (size_t k = 0; k < 3; k++) {
            int code = fill_in(all[k], parameter->name, value, &parameter->used);
            if (code != EX_OK)
                return code;
        }
    }
    return EX_OK;
}

static char *name_of(const bench_entry *entry, const char *label, bool shell)
{
    char *name = NULL;
    size_t length = 0;
    if (label == NULL)
        return shell ? strdup(entry->command.items[2]) : words_join(&entry->command);
    FILE *stream = open_memstream(&name, &length);
    if (stream == NULL)
        return NULL;
    fputs(label, stream);
    for (size_t i = 0; i < entry->parameter_count; i++)
        fprintf(stream, "%s%s=%s", i == 0 ? " (" : ", ", entry->parameters[i].key,
                entry->parameters[i].value);
    if (entry->parameter_count > 0)
        fputc(')', stream);
    if (fclose(stream) != 0) {
        free(name);
        return NULL;
    }
    return name;
}

static int make_entry(const templates *from, size_t which, size_t combination, bool shell,
                      bench_plan *plan)
{
    bench_entry *entry = &plan->entries[plan->count++];
    if (words_copy(from->items[which].items, from->items[which].count, &entry->command) != 0 ||
        words_copy(from->prepare.items, from->prepare.count, &entry->prepare) != 0 ||
        words_copy(from->cleanup.items, from->cleanup.count, &entry->cleanup) != 0)
        return out_of_memory();
    int code = set_parameters(plan, combination, entry);
    if (code != EX_OK)
        return code;
    entry->name = name_of(entry, from->labels != NULL ? from->labels[which] : NULL, shell);
    return entry->name != NULL ? EX_OK : out_of_memory();
}

/* Number commands that have the same name: a command that was given twice becomes the two subjects
 * "cmd (1)" and "cmd (2)". */
static int tell_apart(bench_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        size_t number = 1;
        char *shared = plan->entries[i].name;
        for (size_t j = i + 1; j < plan->count; j++) {
            if (strcmp(plan->entries[j].name, shared) != 0)
                continue;
            char *numbered = NULL;
            if (asprintf(&numbered, "%s (%zu)", shared, ++number) < 0)
                return out_of_memory();
            free(plan->entries[j].name);
            plan->entries[j].name = numbered;
        }
        if (number == 1)
            continue;
        if (asprintf(&plan->entries[i].name, "%s (1)", shared) < 0) {
            plan->entries[i].name = shared;
            return out_of_memory();
        }
        free(shared);
    }
    return EX_OK;
}

static int expand(const templates *from, const bench_request *request, bench_plan *plan)
{
    size_t combinations = 1;
    for (size_t i = 0; i < plan->parameter_count; i++) {
        combinations *= plan->parameters[i].values.count;
        if (combinations * from->count > ASSAY_SAMPLING_MAX_SUBJECTS) {
            message_error("assay bench: the parameters make more than %d commands",
                          ASSAY_SAMPLING_MAX_SUBJECTS);
            return EX_USAGE;
        }
    }
    plan->entries = calloc(combinations * from->count, sizeof *plan->entries);
    if (plan->entries == NULL)
        return out_of_memory();
    for (size_t i = 0; i < combinations; i++)
        for (size_t j = 0; j < from->count; j++) {
            int code = make_entry(from, j, i, request->shell, plan);
            if (code != EX_OK)
                return code;
        }
    for (size_t i = 0; i < plan->parameter_count; i++)
        if (!plan->parameters[i].used) {
            message_error("assay bench: parameter '%s' is used nowhere; write {%s} in a command",
                          plan->parameters[i].name, plan->parameters[i].name);
            return EX_USAGE;
        }
    return tell_apart(plan);
}

int bench_plan_make(const bench_request *request, bench_plan *plan)
{
    templates made = {0};
    *plan = (bench_plan){0};
    int code = make_templates(request, &made);
    if (code == EX_OK)
        code = parse_parameters(request->params, plan);
    if (code == EX_OK)
        code = expand(&made, request, plan);
    release_templates(&made);
    if (code != EX_OK)
        bench_plan_release(plan);
    return code;
}

void bench_plan_release(bench_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        bench_entry *entry = &plan->entries[i];
        free(entry->name);
        free(entry->parameters);
        words_release(&entry->command);
        words_release(&entry->prepare);
        words_release(&entry->cleanup);
    }
    free(plan->entries);
    for (size_t i = 0; i < plan->parameter_count; i++) {
        free(plan->parameters[i].name);
        words_release(&plan->parameters[i].values);
    }
    free(plan->parameters);
    *plan = (bench_plan){0};
}
