/* Times the phases of one job. Each phase begins where the one before it ends, and occurs again in
 * every round.
 *
 *     cc phases.c $(pkg-config --cflags --libs assay) -lm -o phases
 *     ./phases */
#include <math.h>
#include <stdlib.h>

#include <assay/assay.h>
#include <assay/timers.h>

enum { PARTICLES = 20000, ROUNDS = 50 };

static float position[PARTICLES], velocity[PARTICLES], force[PARTICLES];

static void compute_forces(void)
{
    for (int i = 0; i < PARTICLES; i++)
        force[i] = -sinf(position[i]);
}

static void move(void)
{
    for (int i = 0; i < PARTICLES; i++) {
        velocity[i] += 0.01f * force[i];
        position[i] += 0.01f * velocity[i];
    }
}

static double energy(void)
{
    double sum = 0.0;
    for (int i = 0; i < PARTICLES; i++)
        sum += 0.5 * (double)velocity[i] * velocity[i] + 1.0 - cos(position[i]);
    return sum / PARTICLES;
}

int main(void)
{
    assay_phase_timer *timer = NULL;
    assay_status status = assay_phase_timer_new("Pendulums", NULL, &timer);
    if (status != ASSAY_OK) {
        fprintf(stderr, "phase timer: %s\n", assay_status_message(status));
        return 1;
    }
    double at_start = 0.0, at_end = 0.0;
    assay_phase_timer_start_phase(timer, "initialise");
    for (int i = 0; i < PARTICLES; i++)
        position[i] = (float)i / PARTICLES;
    at_start = energy();
    for (int round = 0; round < ROUNDS; round++) {
        assay_phase_timer_start_phase(timer, "forces"); /* ends the phase before it */
        compute_forces();
        assay_phase_timer_start_phase(timer, "move");
        move();
    }
    assay_phase_timer_start_phase(timer, "energy");
    at_end = energy();
    status = assay_phase_timer_end_phase(timer);

    printf("mean energy %.4f, at the end %.4f\n\n", at_start, at_end);
    if (status == ASSAY_OK)
        status = assay_phase_timer_print_breakdown(timer, stdout);

    /* The phases are timers too, so they can be listed, compared and exported (timing.c). */
    const assay_timers *phases = assay_phase_timer_timers(timer);
    printf("\n%zu phases, %.6f s together; the forces took %.6f s\n", assay_timers_count(phases),
           assay_timers_total(phases), assay_timers_get(phases, "forces", "time").value);
    assay_phase_timer_free(timer);
    if (status != ASSAY_OK)
        fprintf(stderr, "phase timer: %s\n", assay_status_message(status));
    return status == ASSAY_OK ? 0 : 1;
}
