/* Does a training become steady, and does it reach its goal? This program shows warm-up,
 * convergence and uneven batches.
 *
 *     cc convergence.c $(pkg-config --cflags --libs assay) -lm -o convergence
 *     ./convergence
 *
 * A logistic regression is trained with eight learning rates. Each training keeps the loss and the
 * time of every epoch, and the times of its batches. The first epoch of the first training also
 * makes the data, so it is slower than the others: this is its warm-up. */
#include <math.h>

#include <assay/assay.h>
#include <assay/training.h>

enum { FEATURES = 10, BATCH = 500, BATCHES = 40, EPOCHS = 25, TRAININGS = 8 };

static double inputs[BATCHES][BATCH][FEATURES], labels[BATCHES][BATCH];
static double losses[TRAININGS][EPOCHS], epoch_seconds[TRAININGS][EPOCHS];
static double batch_seconds[TRAININGS * EPOCHS * BATCHES];

static void make_data(void)
{
    for (int batch = 0; batch < BATCHES; batch++)
        for (int row = 0; row < BATCH; row++) {
            double score = 0.0;
            for (int i = 0; i < FEATURES; i++) {
                inputs[batch][row][i] = sin(1.0 + batch * 31.7 + row * 12.9 + i * 78.2);
                score += inputs[batch][row][i] * (i - 4.5);
            }
            labels[batch][row] = score > 0.0 ? 1.0 : 0.0;
        }
}

/* One step of gradient descent; returns the mean loss of the batch. */
static double train_batch(double weights[FEATURES], int batch, double rate)
{
    double gradient[FEATURES] = {0}, loss = 0.0;
    for (int row = 0; row < BATCH; row++) {
        double score = 0.0;
        for (int i = 0; i < FEATURES; i++)
            score += weights[i] * inputs[batch][row][i];
        const double probability = 1.0 / (1.0 + exp(-score)), label = labels[batch][row];
        loss -= log(fmax(label > 0.5 ? probability : 1.0 - probability, 1e-12)) / BATCH;
        for (int i = 0; i < FEATURES; i++)
            gradient[i] += (probability - label) * inputs[batch][row][i] / BATCH;
    }
    for (int i = 0; i < FEATURES; i++)
        weights[i] -= rate * gradient[i];
    return loss;
}

static void train(int training)
{
    const assay_clock *clock = assay_clock_default();
    const double rate = 0.005 * (training + 1);
    double weights[FEATURES] = {0};
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        double loss = 0.0;
        const double start = assay_clock_seconds(clock);
        if (training == 0 && epoch == 0)
            make_data();
        for (int batch = 0; batch < BATCHES; batch++) {
            const double batch_start = assay_clock_seconds(clock);
            loss += train_batch(weights, batch, rate) / BATCHES;
            batch_seconds[(training * EPOCHS + epoch) * BATCHES + batch] =
                assay_clock_seconds(clock) - batch_start;
        }
        losses[training][epoch] = loss;
        epoch_seconds[training][epoch] = assay_clock_seconds(clock) - start;
    }
}

/* First the simple figures of the seed documents, then the detected begin of the steady state. */
static assay_status show_warmup(void)
{
    assay_warmup warmup;
    assay_warmup_detection detection;
    assay_status status = assay_warmup_analyze(epoch_seconds[0], EPOCHS, &warmup);
    if (status == ASSAY_OK)
        status = assay_print_warmup_analysis(&warmup, stdout, "Single figures");
    if (status == ASSAY_OK)
        status = assay_warmup_detect(epoch_seconds[0], EPOCHS, &detection);
    if (status == ASSAY_OK)
        status = assay_warmup_print(&warmup, &detection, stdout, "With detection");
    return status;
}

static assay_status show_convergence(double threshold)
{
    assay_convergence trainings[TRAININGS];
    printf("\ntraining   converged   epochs   best loss\n");
    for (int i = 0; i < TRAININGS; i++) {
        const assay_status status = assay_convergence_analyze(losses[i], epoch_seconds[i], EPOCHS,
                                                              threshold, &trainings[i]);
        if (status != ASSAY_OK)
            return status;
        printf("%8d   %-9s", i, trainings[i].converged ? "yes" : "no");
        if (trainings[i].converged)
            printf("   %6.0f", trainings[i].epochs_to_converge.value);
        else
            printf("   %6s", "n/a");
        printf("   %9.4f\n", trainings[i].best_loss.value);
    }
    assay_convergence_summary summary;
    assay_status status = assay_convergence_summarize(trainings, TRAININGS, &summary);
    if (status == ASSAY_OK) {
        printf("\n");
        status = assay_convergence_print(&summary, stdout, "Logistic regression");
    }
    return status;
}

static assay_status show_batches(void)
{
    assay_batch_variance variance;
    const assay_status status = assay_batch_variance_analyze(
        batch_seconds, sizeof batch_seconds / sizeof *batch_seconds, &variance);
    if (status != ASSAY_OK)
        return status;
    printf("\n%zu batches, the slowest took %.1f times as long as the fastest\n", variance.batches,
           variance.spread.value);
    return assay_batch_variance_print(&variance, stdout);
}

int main(void)
{
    for (int training = 0; training < TRAININGS; training++)
        train(training);
    assay_status status = show_warmup();
    if (status == ASSAY_OK)
        status = show_convergence(0.15);
    if (status == ASSAY_OK)
        status = show_batches();
    if (status != ASSAY_OK)
        fprintf(stderr, "%s: %s\n", assay_status_name(status), assay_status_message(status));
    return status == ASSAY_OK ? 0 : 1;
}
