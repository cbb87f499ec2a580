# Seed D's commands. Without files of the dataset, made-up graphs take their place, which is said; nodes that are given
# keep the average degree, and edges that are given count.
quick="--hidden_dim 32 --num_layers 2 --num_heads 4 --ffn-dim 64 --num-runs 3 --warmup-runs 1 --budget 100ms"
data() { grep -A 1 '^data'; }
show profile --dataset peptides_func --model graph_transformer $quick --profile runtime memory flops scaling >out.txt
grep -E '^(assay|data|RUNTIME|MEMORY|FLOPS|SCALING|exit)' out.txt | sed -E 's/  +.*//'
data <out.txt
"$ASSAY" profile --dataset peptides_func --synthetic --model graph_transformer $quick --num_nodes 1000 --profile runtime | data
"$ASSAY" profile --model graph_transformer $quick --num_nodes 1000 --profile runtime memory | data
"$ASSAY" profile --model graph_transformer $quick --num_nodes 1000 --num-edges 70 --profile flops | data
# A loss and an optimizer: what the optimizer keeps is part of the memory, and the profile says which they were.
for optimizer in adam sgd momentum; do
    "$ASSAY" profile --model mlp --hidden-dim 64 --loss l1 --optimizer $optimizer --profile memory --json p.json --record r.json >/dev/null
    python3 - <<'END'
import json
breakdown = json.load(open("p.json"))["memory"]["breakdown"]
settings = json.load(open("r.json"))["settings"]
print(round(breakdown["optimizer_state"] / breakdown["parameters"], 6), settings.get("loss"), settings.get("optimizer"))
END
done
show profile --model mlp --loss bc
show profile --model heat --optimizer sgd --profile runtime
# The dataset as it is published: a table of SMILES, packed. Labels come from it too, so there is a backward pass.
mkdir -p data/peptides_func/raw
printf 'smiles,labels\nC[C@H](N)C(=O)O,"[0, 1, 0, 0, 0, 0, 0, 0, 0, 0]"\nNCC(=O)N[C@@H](Cc1c[nH]cn1)C(=O)O,"[0, 0, 0, 1, 0, 0, 0, 0, 0, 1]"\n' |
    gzip >data/peptides_func/raw/peptide_multi_class_dataset.csv.gz
"$ASSAY" profile --dataset peptides_func --model graph_transformer $quick --batch-size 2 --loss bce --profile runtime >out.txt
data <out.txt
grep -cE '^(forward|backward|training step) +[0-9.]+' out.txt
printf 'smiles,labels\nCC(,"[1]"\n' >data/peptide_multi_class_dataset.csv
show profile --dataset peptides_func --model graph_transformer $quick --profile runtime
