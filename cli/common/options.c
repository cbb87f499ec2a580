/* One option parser for all commands. It walks over argv, finds each option in the table of the
 * command, converts the value by the type of the option and stores it at the option's offset in the
 * settings. The help is printed from the same table. */
#include "cli/common/options.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/nearest.h"
#include "base/text.h"
#include "cli/common/level_check.h"
#include "cli/common/message.h"

enum { NAME_BYTES = 64, HELP_COLUMN = 26, HELP_WIDTH = 79 };

static const option help_option = {
    .name = "help", .letter = 'h', .type = OPTION_FLAG, .help = "Print this help and exit."};

const option *options_find_long(const command *self, const char *typed, size_t length)
{
    for (size_t i = 0; i < self->option_count; i++)
        if (assay__text_same_option(self->options[i].name, typed, length))
            return &self->options[i];
    return assay__text_same_option(help_option.name, typed, length) ? &help_option : NULL;
}

const option *options_find_letter(const command *self, char letter)
{
    for (size_t i = 0; i < self->option_count; i++)
        if (self->options[i].letter == letter)
            return &self->options[i];
    return letter == help_option.letter ? &help_option : NULL;
}

const option *options_help(void)
{
    return &help_option;
}

static bool parse_seconds(const char *text, double *seconds)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"min", 60}};
    char *end = NULL;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || errno != 0 || !isfinite(value) || value <= 0 || value > 1e9)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0) {
            *seconds = value * units[i].seconds;
            return true;
        }
    return false;
}

static bool parse_count(const char *text, size_t *count)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value == 0)
        return false;
    *count = (size_t)value;
    return true;
}

static bool parse_number(const char *text, option_number *number)
{
    char *end = NULL;
    errno = 0;
    number->value = strtoull(text, &end, 10);
    number->given = *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
    return number->given;
}

/* Whether the text is a whole number that an option cannot hold. */
static bool too_large(const char *text)
{
    errno = 0;
    strtoull(text, NULL, 10);
    return errno == ERANGE && text[strspn(text, "0123456789")] == '\0';
}

static bool parse_real(const char *text, double *real)
{
    char *end = NULL;
    *real = strtod(text, &end);
    return end != text && *end == '\0' && *real > 0 && isfinite(*real);
}

static bool parse_share(const char *text, double *share)
{
    char *end = NULL;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || errno != 0)
        return false;
    while (*end == ' ')
        end++;
    if (*end == '%') {
        value /= 100;
        end++;
    }
    if (*end != '\0' || !(value > 0 && value < 1))
        return false;
    *share = value;
    return true;
}

static bool store_text(const command *self, const option *found, const char *value, void *field)
{
    option_list *list = field;
    if (*value == '\0') {
        message_error("assay %s: option '--%s' needs a non-empty %s", self->name, found->name,
                      found->argument);
        return false;
    }
    if (found->type == OPTION_TEXT) {
        *(const char **)field = value;
        return true;
    }
    if (list->count == OPTION_LIST_MAX) {
        message_error("assay %s: option '--%s' is given more than %d times", self->name,
                      found->name, OPTION_LIST_MAX);
        return false;
    }
    list->items[list->count++] = value;
    return true;
}

static bool store(const command *self, const option *found, const char *value, void *settings)
{
    void *field = (char *)settings + found->offset;
    switch (found->type) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case OPTION_TEXT:
    case OPTION_LIST:
        return store_text(self, found, value, field);
    case OPTION_PERIOD:
    case OPTION_SECONDS:
        if (found->type == OPTION_PERIOD && parse_real(value, field)) {
            message_error("assay %s: '%s' needs a unit for '--%s'; write for example %sms or %ss",
                          self->name, value, found->name, value, value);
            return false;
        }
        if (parse_seconds(value, field))
            return true;
        message_error("assay %s: '%s' is not a duration for '--%s'; write for example 10ms or 0.5s",
                      self->name, value, found->name);
        return false;
    case OPTION_COUNT:
        if (parse_count(value, field))
            return true;
        message_error("assay %s: '%s' is %s for '--%s'", self->name, value,
                      too_large(value) ? "too large" : "not a whole number above 0", found->name);
        return false;
    case OPTION_NUMBER:
        if (parse_number(value, field))
            return true;
        message_error("assay %s: '%s' is %s for '--%s'", self->name, value,
                      too_large(value) ? "too large" : "not a whole number", found->name);
        return false;
    case OPTION_REAL:
        if (parse_real(value, field))
            return true;
        message_error("assay %s: '%s' is not a number above 0 for '--%s'", self->name, value,
                      found->name);
        return false;
    case OPTION_BYTES:
        if (assay__text_bytes(value, field))
            return true;
        message_error("assay %s: '%s' is not a size for '--%s'; write for example 512M or 2G",
                      self->name, value, found->name);
        return false;
    case OPTION_SHARE:
        if (parse_share(value, field))
            return true;
        message_error("assay %s: '%s' is not a share for '--%s'; write for example 2%% or 0.02",
                      self->name, value, found->name);
        return false;
    }
    return false;
}

static void complain_unknown(const command *self, const char *typed, size_t length)
{
    char name[NAME_BYTES + 1];
    length = length < NAME_BYTES ? length : NAME_BYTES;
    memcpy(name, typed, length);
    name[length] = '\0';
    const char *nearest =
        self->option_count == 0
            ? NULL
            : assay__nearest(name, &self->options->name, self->option_count, sizeof(option));
    if (nearest != NULL)
        message_error("assay %s: unknown option '--%s'; did you mean '--%s'?", self->name, name,
                      nearest);
    else
        message_error("assay %s: unknown option '--%s'; see 'assay %s --help'", self->name, name,
                      self->name);
}

/* The state of one pass over argv. */
typedef struct cursor {
    const command *self;
    int argc;
    char **argv;
    int at;
    void *settings;
    bool help;
} cursor;

static bool take_value(cursor *c, const option *found, const char *attached)
{
    if (found == &help_option) {
        c->help = true;
        return true;
    }
    if (found->type == OPTION_FLAG) {
        if (attached == NULL)
            return store(c->self, found, NULL, c->settings);
        message_error("assay %s: option '--%s' takes no value", c->self->name, found->name);
        return false;
    }
    if (attached != NULL)
        return store(c->self, found, attached, c->settings);
    if (c->at + 1 < c->argc)
        return store(c->self, found, c->argv[++c->at], c->settings);
    message_error("assay %s: option '--%s' needs a value: --%s %s", c->self->name, found->name,
                  found->name, found->argument);
    return false;
}

static bool take_long(cursor *c, const char *typed)
{
    const char *equals = strchr(typed, '=');
    size_t length = equals != NULL ? (size_t)(equals - typed) : strlen(typed);
    const option *found = options_find_long(c->self, typed, length);
    if (found == NULL) {
        complain_unknown(c->self, typed, length);
        return false;
    }
    return take_value(c, found, equals != NULL ? equals + 1 : NULL);
}

static bool take_letters(cursor *c, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        const option *found = options_find_letter(c->self, *letters);
        if (found == NULL) {
            message_error("assay %s: unknown option '-%c'; see 'assay %s --help'", c->self->name,
                          *letters, c->self->name);
            return false;
        }
        if (found->type != OPTION_FLAG)
            return take_value(c, found, letters[1] != '\0' ? letters + 1 : NULL);
        if (!take_value(c, found, NULL))
            return false;
    }
    return true;
}

bool options_parse(const command *self, int argc, char **argv, void *settings, char ***operands,
                   int *operand_count, int *code)
{
    cursor c = {.self = self, .argc = argc, .argv = argv, .at = 1, .settings = settings};
    int kept = 0;
    *code = EX_USAGE;
    for (; c.at < argc && !c.help; c.at++) {
        char *word = argv[c.at];
        bool is_option = word[0] == '-' && word[1] != '\0';
        if (is_option && strcmp(word, "--") == 0) {
            c.at++;
            break;
        }
        if (!is_option && self->first_operand_ends_options)
            break;
        if (!is_option)
            argv[1 + kept++] = word;
        else if (!(word[1] == '-' ? take_long(&c, word + 2) : take_letters(&c, word + 1)))
            return false;
    }
    if (c.help) {
        options_print_help(self, stdout);
        *code = EX_OK;
        return false;
    }
    if (!level_is_known())
        return false;
    while (c.at < argc)
        argv[1 + kept++] = argv[c.at++];
    argv[1 + kept] = NULL;
    if (operands == NULL && kept > 0) {
        message_error("assay %s: takes no operand, got '%s'", self->name, argv[1]);
        return false;
    }
    if (operands == NULL)
        return true;
    *operands = argv + 1;
    *operand_count = kept;
    return true;
}

void options_print_entry(const char *label, const char *text, int column, FILE *stream)
{
    size_t columns = HELP_WIDTH - (size_t)column;
    int indent = strlen(label) < (size_t)column ? 0 : column;
    fprintf(stream, "%-*s%s", column, label, indent > 0 ? "\n" : "");
    for (const char *rest; *text != '\0'; text = rest, indent = column) {
        size_t bytes = assay__text_line(text, columns, &rest);
        fprintf(stream, "%*s%.*s\n", indent, "", (int)bytes, text);
    }
}

static void print_option(const option *shown, FILE *stream)
{
    char label[128];
    char letter[8] = "    ";
    if (shown->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", shown->letter);
    snprintf(label, sizeof label, "  %s--%s%s%s", letter, shown->name,
             shown->argument != NULL ? " " : "", shown->argument != NULL ? shown->argument : "");
    options_print_entry(label, shown->help, HELP_COLUMN, stream);
}

void options_print_help(const command *self, FILE *stream)
{
    fprintf(stream, "usage: assay %s [options]%s%s\n\n%s\n\noptions:\n", self->name,
            *self->operands != '\0' ? " " : "", self->operands, self->description);
    for (size_t i = 0; i < self->option_count; i++)
        print_option(&self->options[i], stream);
    print_option(&help_option, stream);
    if (self->print_more != NULL) {
        fputc('\n', stream);
        self->print_more(stream);
    }
}
