"""A self-check: profiles a mock MVAR, and writes test_outputs/test_runtime_profile.json.

    python test_runtime_analyzer.py
"""
import os
import random

from assay.runtime_analyzer import RuntimeAnalyzer, compute_mvar_params, quick_benchmark

LATENT_DIM, LAG, STEPS, TRIALS = 10, 3, 50, 20


def make_mvar(generator):
    """Make a stable MVAR: A_0 is its constant, and A_j holds the matrices of its lags."""
    scale = 0.5 / (LATENT_DIM * LAG)
    return {"A_0": [generator.uniform(-0.1, 0.1) for _ in range(LATENT_DIM)],
            "A_j": [[[generator.uniform(-scale, scale) for _ in range(LATENT_DIM)] for _ in range(LATENT_DIM)] for _ in range(LAG)]}


def forecast_of(model):
    def forecast(history, n_steps):
        states = [list(state) for state in history]
        for _ in range(n_steps):
            recent = states[:-LAG - 1:-1]
            states.append([constant + sum(weight * value for matrix, state in zip(model["A_j"], recent)
                                          for weight, value in zip(matrix[row], state))
                           for row, constant in enumerate(model["A_0"])])
        return states[LAG:]
    return forecast


def main():
    generator = random.Random(42)
    analyzer = RuntimeAnalyzer()
    with analyzer.time_operation("training") as timer:
        model = make_mvar(generator)
    history = [[generator.gauss(0, 1) for _ in range(LATENT_DIM)] for _ in range(LAG)]
    profile = quick_benchmark(model_name="MVAR", forecast_fn=forecast_of(model), z0=history, training_time=timer.elapsed,
                              model_params=compute_mvar_params(model), latent_dim=LATENT_DIM, n_steps=STEPS, n_trials=TRIALS, lag=LAG)
    figures = profile.to_dict()
    assert figures["complexity"]["total_parameters"] == figures["complexity"]["expected_parameters"], figures["complexity"]
    assert figures["inference"]["full_trajectory"]["samples"] == TRIALS, figures["inference"]
    os.makedirs("test_outputs", exist_ok=True)
    path = os.path.join("test_outputs", "test_runtime_profile.json")
    analyzer.save_profile(profile, path)
    print(f"Training: {profile.training.total_seconds:.6f} s")
    print(f"Inference: {profile.inference_full_trajectory.mean_seconds:.6f} s for {STEPS} steps, "
          f"{profile.throughput['microseconds_per_step']:.1f} us a step")
    print(f"Parameters: {profile.memory.model_parameters}")
    print(f"Saved {path}")


if __name__ == "__main__":
    main()
