# Figures and the findings that depend on times are masked; lines, titles, columns and keys stay.
shape() {
    sed -E -e '/^(⚠️|⚡|      - |CPU \(MB\) sums )/d' -e '/^(\$|exit|Epoch [0-9]|  Batch [0-9])/!s/\b[0-9]+ (iterations|evaluations)/# \1/g' \
        -e 's/[+-]?[0-9]+\.[0-9]+(e[-+][0-9]+)?/#/g' -e 's/peak [0-9]+MB/peak #MB/' -e 's/  +/ /g'
}
cp -r "$(dirname "$0")/../../../conf" .
show study pde --config-name burgers_experiment trainer=synthetic_with_memory trainer_params.epochs=2 --quick --out burgers | shape
show study pde --config-name heat_physical_experiment trainer=physical_with_memory --quick --out heat | shape
show study pde --config-name=heat_physical_experiment --quick --out plain problem.knots=2 trainer_params.memory_monitor_batches=0 | shape
for folder in burgers heat plain; do (cd $folder && find . -type f | LC_ALL=C sort); done
head -n 1 burgers/losses.csv heat/losses.csv
cut -d, -f1 heat/performance_metrics.csv
head -n 1 heat/performance_metrics.csv
python3 - <<'END'
import json
for folder in ("burgers", "heat"):
    root = json.load(open(folder + "/results.json"))
    print(sorted(root), sorted(root["results"]), sorted(root["timing"]))
    print(root["config"])
    print(sorted(root["timing"]["statistics"]), len(root["timing"]["batch_seconds"]) == root["timing"]["statistics"]["num_batches"])
END
show study pde --config-name burgers_experiment --quick --show-config problem.viscosity=0.02 trainer_params.enable_memory_monitoring=yes
show study pde --quick --show-config | head -n 4
show study pde --config-name burger_experiment
show study pde --config-name burgers_experiment trainer=synthetic_with_memry
show study pde --config-name burgers_experiment trainer=physical
show study pde --config-name burgers_experiment trainer_params.epoch=5
show study pde --config-name burgers_experiment trainer_params.epochs=many
show study pde --config-name burgers_experiment problem.noise=1
show study pde --config-name burgers_experiment problem.samples=10
show study pde --config-name burgers_experiment fast
show study pde --config-name burgers_experiment --quick --out heat
mkdir full && ln -s /dev/full full/config.yaml
show study pde --quick --out full # a full disk
sed -i 's/batch_size: 32/batch_size: lots/' conf/trainer/synthetic.yaml
show study pde --config-name burgers_experiment
printf 'trainer_params:\n  batch_sise: 3\n' >conf/trainer/mine.yaml
show study pde --config-name burgers_experiment trainer=mine
show study pde --config-name burgers_experiment --config-dir nowhere
