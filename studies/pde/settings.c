/* The settings of the study. Each equation has a table of fields of its own, so that a key of the
 * other equation is an error. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "assay/record_build.h"
#include "base/error.h"
#include "studies/pde/study.h"

static const char *const equations[] = {"burgers", "heat", NULL};
static const char *const trainers[] = {"synthetic", "physical", NULL};

#define AT(name) offsetof(assay__pde_config, name)
#define WHOLE(key, name, low, high, help)                                                          \
    {                                                                                              \
        key, ASSAY__CONFIG_INTEGER, AT(name), low, high, NULL, help                                \
    }
#define REAL(key, name, low, high, help)                                                           \
    {                                                                                              \
        key, ASSAY__CONFIG_NUMBER, AT(name), low, high, NULL, help                                 \
    }

#define PROBLEM                                                                                    \
    {"problem.equation", ASSAY__CONFIG_WORD, AT(equation), 0, 0, equations, "what is solved"},     \
        WHOLE("problem.points", points, 5, 65536, "of the grid"),                                  \
        REAL("problem.duration", duration, 1e-9, 1e6, "of the solution"),                          \
        WHOLE("problem.samples", samples, 1, 1e7, "solutions to learn from")
#define BURGERS_PROBLEM                                                                            \
    REAL("problem.viscosity", viscosity, 1e-6, 1e3, "of Burgers' equation"),                       \
        WHOLE("problem.modes", modes, 1, 1024, "waves in the initial values"),                     \
        WHOLE("problem.held_out", held_out, 1, 1e7, "solutions to test with"),                     \
        WHOLE("model.hidden_dim", hidden_dim, 1, 16384, "width of the net"),                       \
        WHOLE("model.num_layers", num_layers, 1, 64, "hidden layers of the net")
#define HEAT_PROBLEM                                                                               \
    WHOLE("problem.knots", knots, 1, 4096, "values of the conductivity"),                          \
        WHOLE("problem.snapshots", snapshots, 1, 4096, "observed of each sample"),                 \
        WHOLE("problem.steps", steps, 1, 65536, "of time, per snapshot"),                          \
        REAL("problem.noise", noise, 0, 1e3, "added to what is observed"),                         \
        REAL("problem.smoothness", smoothness, 0, 1e3, "weight of differences of knots")
#define TRAINER                                                                                    \
    {"trainer_params.trainer", ASSAY__CONFIG_WORD, AT(trainer), 0, 0, trainers, "how it learns"},  \
        {"trainer_params.enable_memory_monitoring",                                                \
         ASSAY__CONFIG_FLAG,                                                                       \
         AT(enable_memory_monitoring),                                                             \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         "time and memory"},                                                                       \
        WHOLE("trainer_params.memory_monitor_batches", memory_monitor_batches, 0, 1e6,             \
              "lines for the first N batches"),                                                    \
        WHOLE("trainer_params.epochs", epochs, 1, 1e6, "or iterations at most")
#define SYNTHETIC_TRAINER                                                                          \
    WHOLE("trainer_params.batch_size", batch_size, 1, 1e6, "solutions in a step"),                 \
        WHOLE("trainer_params.num_workers", num_workers, 0, 256, "threads that make data"),        \
        REAL("trainer_params.learning_rate", learning_rate, 1e-12, 10, "of Adam")
#define PHYSICAL_TRAINER                                                                           \
    WHOLE("trainer_params.history", history, 1, 100, "corrections L-BFGS remembers"),              \
        REAL("trainer_params.tolerance", tolerance, 0, 1, "of the gradient, to stop at")

static const assay__config_field all_fields[] = {PROBLEM, BURGERS_PROBLEM,   HEAT_PROBLEM,
                                                 TRAINER, SYNTHETIC_TRAINER, PHYSICAL_TRAINER};
static const assay__config_field burgers_fields[] = {PROBLEM, BURGERS_PROBLEM, TRAINER,
                                                     SYNTHETIC_TRAINER};
static const assay__config_field heat_fields[] = {PROBLEM, HEAT_PROBLEM, TRAINER, PHYSICAL_TRAINER};

enum {
    ALL_FIELDS = sizeof all_fields / sizeof *all_fields,
    BURGERS_FIELDS = sizeof burgers_fields / sizeof *burgers_fields,
    HEAT_FIELDS = sizeof heat_fields / sizeof *heat_fields
};

static const char *const burgers_quick[] = {"problem.points=64", "problem.held_out=128",
                                            "model.hidden_dim=128", "trainer_params.epochs=30"};
static const char *const heat_quick[] = {"problem.points=64", "problem.samples=16",
                                         "problem.knots=8", "problem.snapshots=4",
                                         "problem.steps=20"};

static const assay__pde_config defaults = {.points = 256,
                                           .samples = 64,
                                           .duration = 0.5,
                                           .viscosity = 0.01,
                                           .modes = 4,
                                           .held_out = 256,
                                           .hidden_dim = 256,
                                           .num_layers = 3,
                                           .batch_size = 32,
                                           .learning_rate = 1e-3,
                                           .knots = 8,
                                           .snapshots = 4,
                                           .steps = 20,
                                           .history = 10,
                                           .tolerance = 1e-7,
                                           .memory_monitor_batches = 5,
                                           .epochs = 10};

/* Load the configuration with the fields of its equation. The quick numbers come before the user's
 * overrides, because a later override replaces an earlier one. */
static assay_status load_own(const assay__config_source *source, bool quick, assay_error *error,
                             assay__pde_config *config)
{
    bool burgers = config->equation == ASSAY__PDE_BURGERS;
    const char *const *numbers = burgers ? burgers_quick : heat_quick;
    size_t count = !quick    ? 0
                   : burgers ? sizeof burgers_quick / sizeof *burgers_quick
                             : sizeof heat_quick / sizeof *heat_quick;
    const char **overrides = calloc(count + source->override_count + 1, sizeof *overrides);
    if (overrides == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++)
        overrides[i] = numbers[i];
    for (size_t i = 0; i < source->override_count; i++)
        overrides[count + i] = source->overrides[i];
    assay__config_source own = *source;
    own.overrides = overrides;
    own.override_count += count;
    *config = defaults;
    assay_status status = assay__config_load(&own, burgers ? burgers_fields : heat_fields,
                                             burgers ? BURGERS_FIELDS : HEAT_FIELDS, config, error);
    free(overrides);
    return status;
}

assay_status assay__pde_config_load(const assay__config_source *source, bool quick,
                                    assay_error *error, assay__pde_config *config)
{
    *config = defaults;
    assay_status status = assay__config_load(source, all_fields, ALL_FIELDS, config, error);
    if (status != ASSAY_OK)
        return status;
    if (config->trainer != config->equation)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "%s: the equation '%s' is for a %s trainer, not a %s one; write "
                           "trainer=%s_with_memory",
                           source->name, equations[config->equation], trainers[config->equation],
                           trainers[config->trainer], trainers[config->equation]);
    status = load_own(source, quick, error, config);
    if (status == ASSAY_OK && config->equation == ASSAY__PDE_BURGERS &&
        config->batch_size > config->samples)
        status = assay__fail(error, ASSAY_E_ARGUMENT,
                             "trainer_params.batch_size (%lld) is more than problem.samples (%lld)",
                             (long long)config->batch_size, (long long)config->samples);
    return status;
}

void assay__pde_config_print(const assay__pde_config *config, FILE *stream)
{
    if (config->equation == ASSAY__PDE_BURGERS)
        assay__config_print(burgers_fields, BURGERS_FIELDS, config, stream);
    else
        assay__config_print(heat_fields, HEAT_FIELDS, config, stream);
}

json_t *assay__pde_config_json(const assay__pde_config *config)
{
    return config->equation == ASSAY__PDE_BURGERS
               ? assay__config_json(burgers_fields, BURGERS_FIELDS, config)
               : assay__config_json(heat_fields, HEAT_FIELDS, config);
}

/* Format a setting as in config.yaml, but a number with the fewest digits from which the same
 * number is read back. */
static void format_setting(const assay__config_field *field, const assay__pde_config *config,
                           char *text, size_t size)
{
    double value;
    if (field->kind != ASSAY__CONFIG_NUMBER) {
        assay__config_format(field, config, text, size);
        return;
    }
    memcpy(&value, (const char *)config + field->offset, sizeof value);
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

assay_status assay__pde_config_settings(const assay__pde_config *config, assay_record *record)
{
    bool burgers = config->equation == ASSAY__PDE_BURGERS;
    const assay__config_field *fields = burgers ? burgers_fields : heat_fields;
    size_t count = burgers ? BURGERS_FIELDS : HEAT_FIELDS;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        char value[64];
        format_setting(&fields[i], config, value, sizeof value);
        status = assay_record_add_setting(record, fields[i].path, value);
    }
    return status;
}
