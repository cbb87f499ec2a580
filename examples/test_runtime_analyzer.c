/* Does the installed assay work? This program profiles a mock of an MVAR and checks the profile.
 *
 *     cc test_runtime_analyzer.c $(pkg-config --cflags --libs assay-models) \
 *         -o test_runtime_analyzer
 *     ./test_runtime_analyzer       writes test_outputs/test_runtime_profile.json
 *
 * The mock is a plain function: z(t) = A_0 + A_1 z(t-1) + ... + A_p z(t-p), with made-up matrices.
 * A model of your own can take its place in the same way. */
#include <assay/assay.h>
#include <assay/runtime.h>
#include <assay/timers.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { LATENT = 20, LAG = 5 };

typedef struct mock_mvar {
    double intercept[LATENT];
    double lags[LAG][LATENT][LATENT];
    double window[LAG][LATENT]; /* the newest first */
} mock_mvar;

/* A stable system: each lag keeps a little of its own value and less of its neighbour's. */
static void make_mock(mock_mvar *model)
{
    memset(model, 0, sizeof *model);
    for (int i = 0; i < LATENT; i++) {
        model->intercept[i] = 0.01 * i;
        for (int lag = 0; lag < LAG; lag++) {
            model->lags[lag][i][i] = 0.5 / (1 << lag);
            model->lags[lag][i][(i + 1) % LATENT] = 0.1 / (1 << lag);
            model->window[lag][i] = 1.0;
        }
    }
}

static assay_status forecast(void *context, uint64_t steps)
{
    mock_mvar *model = context;
    for (uint64_t step = 0; step < steps; step++) {
        double next[LATENT];
        memcpy(next, model->intercept, sizeof next);
        for (int lag = 0; lag < LAG; lag++)
            for (int i = 0; i < LATENT; i++)
                for (int j = 0; j < LATENT; j++)
                    next[i] += model->lags[lag][i][j] * model->window[lag][j];
        memmove(model->window[1], model->window[0], (LAG - 1) * sizeof model->window[0]);
        memcpy(model->window[0], next, sizeof next);
    }
    return ASSAY_OK;
}

static int check(const char *what, int holds)
{
    printf("%-34s %s\n", what, holds ? "ok" : "FAILED");
    return holds ? 0 : 1;
}

int main(void)
{
    static mock_mvar model;
    double seconds = 0;
    ASSAY_TIME_OPERATION("training", &seconds) {
        make_mock(&model);
    }
    assay_profile_parts parts = ASSAY_PROFILE_PARTS_INIT;
    parts.model_name = "MVAR";
    parts.training_seconds = assay_reading_of(seconds);
    parts.model_params = assay_compute_mvar_params(LATENT, LAG);
    parts.shape.latent_dim = LATENT;
    parts.shape.lag = LAG; /* a lag means that it is an MVAR */

    assay_error error = {0};
    assay_runtime_profile profile;
    const char *path = "test_outputs/test_runtime_profile.json";
    assay_status status =
        assay_quick_benchmark(&(assay_forecast){forecast, &model}, &parts, NULL, &error, &profile);
    if (status == ASSAY_OK && mkdir("test_outputs", 0777) != 0 && errno != EEXIST)
        status = ASSAY_E_IO;
    if (status == ASSAY_OK)
        status = assay_save_profile(&profile, path, &error);
    if (status != ASSAY_OK) {
        fprintf(stderr, "%s: %s\n", assay_status_name(status), error.message);
        return 1;
    }
    const assay_timing *step = &profile.inference_single_step;
    const assay_timing *whole = &profile.inference_full_trajectory;
    int failed = check("training is timed", profile.training_seconds.value > 0);
    failed += check("a step is timed", step->mean_seconds > 0 && step->count >= 50);
    failed +=
        check("a forecast takes longer than a step", whole->mean_seconds > step->mean_seconds);
    failed += check("memory is read", profile.memory.current_bytes.value > 0);
    failed += check("2020 parameters of 8 bytes", profile.memory.parameter_bytes == 16160);
    failed += check("4000 FLOPs a step", profile.complexity.inference_flops_per_step.value == 4000);
    printf("%.1f us a step, %.0f predictions a second;\nprofile in %s\n",
           profile.throughput.microseconds_per_step, profile.throughput.predictions_per_second,
           path);
    return failed == 0 ? 0 : 1;
}
