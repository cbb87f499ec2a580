/* assay doctor: says what can be measured on this machine, how precisely, and why other things
 * cannot. The probes are in doctor_probes.c; this file runs them and prints their findings as text
 * or as JSON. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "assay/report.h"
#include "base/terminal.h"
#include "cli/common/commands.h"
#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/doctor_probes.h"
#include "cli/models_executable.h"

enum { MAX_PROBES = 64, LEVEL_WIDTH = 9, TITLE_WIDTH = 19, LINE_WIDTH = 79 };

typedef struct doctor_settings {
    const char *json;
    bool measure;
} doctor_settings;

static const option doctor_options[] = {
    {"json", 'j', OPTION_TEXT, "FILE",
     "Write the findings as JSON instead; '-' is standard output.",
     offsetof(doctor_settings, json)},
    {"measure", 0, OPTION_FLAG, NULL,
     "First measure this machine's peak (arithmetic and memory, about two seconds) and keep it.",
     offsetof(doctor_settings, measure)},
};

static const char *level_text(doctor_level level)
{
    static const char *const texts[] = {"ok", "limited", "no"};
    return texts[level];
}

static assay__shade level_shade(doctor_level level)
{
    static const assay__shade shades[] = {ASSAY__SHADE_GOOD, ASSAY__SHADE_DOUBTFUL,
                                          ASSAY__SHADE_BAD};
    return shades[level];
}

/* Print text in the right-hand column, with line breaks at spaces. */
static void print_column(const char *text, FILE *stream)
{
    const int left = LEVEL_WIDTH + TITLE_WIDTH;
    int column = left;
    while (*text != '\0') {
        int word = (int)strcspn(text, " ");
        if (column > left && column + 1 + word > LINE_WIDTH) {
            fprintf(stream, "\n%*s", left, "");
            column = left;
        } else if (column > left) {
            fputc(' ', stream);
            column++;
        }
        fprintf(stream, "%.*s", word, text);
        column += word;
        text += word + (int)strspn(text + word, " ");
    }
    fputc('\n', stream);
}

static void print_findings(const doctor_finding *findings, FILE *stream)
{
    const char *group = "";
    for (size_t i = 0; i < doctor_probe_count; i++) {
        const doctor_probe *probe = &doctor_probes[i];
        if (strcmp(group, probe->group) != 0)
            fprintf(stream, "%s%s\n", i > 0 ? "\n" : "", probe->group);
        group = probe->group;
        fprintf(stream, "%s%-*s%s%-*s",
                assay__terminal_shade(stream, level_shade(findings[i].level)), LEVEL_WIDTH,
                level_text(findings[i].level), assay__terminal_shade(stream, ASSAY__SHADE_PLAIN),
                TITLE_WIDTH, probe->title);
        print_column(findings[i].finding, stream);
        if (findings[i].remedy[0] != '\0') {
            fprintf(stream, "%*s", LEVEL_WIDTH + TITLE_WIDTH, "");
            char remedy[sizeof findings[i].remedy + 8];
            snprintf(remedy, sizeof remedy, "remedy: %s", findings[i].remedy);
            print_column(remedy, stream);
        }
    }
}

static assay_status print_json(const void *subject, FILE *stream, assay_error *error)
{
    const doctor_finding *findings = subject;
    json_t *checks = json_array();
    for (size_t i = 0; i < doctor_probe_count; i++)
        json_array_append_new(
            checks, json_pack("{ss, ss, ss, ss, ss?}", "key", doctor_probes[i].key, "group",
                              doctor_probes[i].group, "level", level_text(findings[i].level),
                              "finding", findings[i].finding, "remedy",
                              findings[i].remedy[0] != '\0' ? findings[i].remedy : NULL));
    json_t *root = json_pack("{ss, ss, so}", "kind", "doctor", "assay_version", ASSAY_VERSION,
                             "checks", checks);
    bool written =
        root != NULL && json_dumpf(root, stream, JSON_INDENT(2)) == 0 && fputc('\n', stream) != EOF;
    json_decref(root);
    if (written)
        return ASSAY_OK;
    *error = (assay_error){ASSAY_E_IO, "cannot write the findings"};
    return ASSAY_E_IO;
}

static int doctor_main(const command *self, int argc, char **argv)
{
    doctor_settings settings = {0};
    int code;
    if (!options_parse(self, argc, argv, &settings, NULL, NULL, &code))
        return code;
    code = output_refuse("doctor", &settings.json, 1);
    if (code != EX_OK)
        return code;
    if (settings.measure && !models_executable_measure_peak())
        return EX_CANTCREAT;
    doctor_finding findings[MAX_PROBES] = {0};
    for (size_t i = 0; i < doctor_probe_count; i++)
        doctor_probes[i].examine(&findings[i]);
    if (settings.json == NULL) {
        print_findings(findings, stdout);
        return EX_OK;
    }
    assay_error error = {0};
    assay_status status = assay_file_save(settings.json, print_json, findings, &error);
    return output_check("doctor", status, &error) ? EX_OK : message_output_exit(status);
}

const command command_doctor = {
    .name = "doctor",
    .summary = "say what can be measured here, how precisely, and why not",
    .operands = "",
    .description =
        "Tries everything assay can measure and says for each: ok, limited (less precise\n"
        "or disturbed), or no, with the reason and the remedy. Changes nothing, but for\n"
        "the peak that --measure keeps in the user's cache folder.",
    COMMAND_OPTIONS(doctor_options),
    .main = doctor_main,
};
