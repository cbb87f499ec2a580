"""The scripts of the seed documents, run from the folder of `python3 -m assay compat-path` as the documents run them, but shortened."""
import json
import os
import subprocess
import sys
import unittest

import seed_examples
from seed_examples import Examples

SHORT_RUNS = ["--num-runs", "3", "--warmup-runs", "1"]


class Scripts(Examples):
    def run_script(self, *words):
        name, *arguments = words
        done = subprocess.run([sys.executable, os.path.join(seed_examples.COMPAT, name), *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def profile(self, *arguments):
        done = self.run_script("scripts/profile_model.py", *arguments, *SHORT_RUNS, "--json", "profile.json")
        with open("profile.json") as file:
            return done, json.load(file)

    def test_compat_path(self):
        for arguments, status in (([], 0), (["--help"], 0), (["more"], 64)):
            ran = subprocess.run([sys.executable, "-m", "assay", "compat-path", *arguments], capture_output=True, text=True)
            self.assertEqual(ran.returncode, status)
            self.assertEqual("usage:" in ran.stdout + ran.stderr, bool(arguments))

    def test_training(self):
        for config, trainer in (("burgers_experiment", "synthetic_with_memory"), ("heat_physical_experiment", "physical_with_memory")):
            printed = self.run_script("run.py", f"--config-name={config}", f"trainer={trainer}", "--quick").stdout
            self.assertIn("PERFORMANCE SUMMARY", printed)

    def test_profile(self):
        _, saved = self.profile("--model", "graph_transformer", "--profile", "runtime", "memory", "flops")
        for key in ("timestamp", "hardware", "model_info", "runtime", "memory", "flops"):
            self.assertIn(key, saved)

    def test_profile_of_a_dataset(self):
        done, saved = self.profile("--dataset", "peptides_func", "--model", "graph_transformer", "--profile", "runtime", "flops")
        self.assertIn("made up", done.stderr)
        self.assertIn("forward", saved["runtime"])

    def test_profile_of_sizes(self):
        _, saved = self.profile("--model", "graph_transformer", "--hidden_dim", "64", "--num_layers", "3", "--num_nodes", "50",
                                "--profile", "runtime", "memory")
        self.assertNotIn("flops", saved)

    def test_rom_pipeline(self):
        self.run_script("ROM_pipeline.py", "--quick", "--experiment", "production_test", "--out", "oscar_output")
        with open("oscar_output/production_test/summary.json") as file:
            summary = json.load(file)
        self.assertEqual([profile["model_name"] for profile in summary["runtime_analysis"]["profiles"]][:2], ["MVAR", "LSTM"])
        self.assertTrue(os.path.exists("oscar_output/production_test/MVAR/runtime_profile.json"))

    def test_examples(self):
        printed = self.run_script("examples/performance_monitoring_examples.py").stdout
        for number in range(1, 7):
            self.assertIn(f"\n{number}. ", printed)
        self.assertIn("BOTTLENECK: model_forward", printed)


if __name__ == "__main__":
    unittest.main()
