# What cannot be profiled, and what is said then.
show profile
show profile --model graph_transfomer
show profile --model mlp --profile runtim
show profile --model mlp --profile runtime memroy
show profile --model mlp --scaling hiden
show profile --model mlp --scaling nodes
show profile --model mlp --scaling hidden,batch --sizes 1,2,3
show profile --model mlp --scaling hidden --sizes 1,two
show profile --model mlp --num-runs 1
show profile --model mlp --hidden-dim 0
show profile --model mlp --runtime-profile a.json
show profile --model mlp --dataset peptides_func
show profile --model mlp --synthetic
show profile --model graph_transformer --dataset peptide_func
mkdir -p here/raw && touch here/raw/edge.csv.gz
show profile --model graph_transformer --dataset peptides_func --data-dir here
show profile --model graph_transformer --num-heads 3 --num-nodes 4 --num-edges 4
show profile --model mlp --json nowhere/p.json
show profile --model mlp --threads 257
show profile --model mlp --threads 4294967297
