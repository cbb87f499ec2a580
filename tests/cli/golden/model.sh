# Arrays and weights are written by python3 without NumPy, so that this runs everywhere.
python3 - <<'END'
import struct
def npy(path, shape, values, kind="f4", form="f"):
    head = "{'descr': '<%s', 'fortran_order': False, 'shape': %r, }" % (kind, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    open(path, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%d%s" % (len(values), form), *values))
npy("x.npy", (4, 2), [0.1 * i for i in range(8)])
npy("y.npy", (4, 1), [0.5, -0.5, 0.25, 1])
npy("series.npy", (2, 6, 1), [0.1, 0.2, 0.1, 0.3, 0.2, 0.1, 0, 0.1, 0.3, 0.1, 0.2, 0.2])
npy("nodes.npy", (3, 2), [0.1 * i for i in range(6)])
npy("edges.npy", (2, 4), [0, 1, 1, 2, 1, 0, 2, 1], "i8", "q")
npy("no-edges.npy", (2, 0), [], "i8", "q")
END
show model list | grep -E --no-group-separator -A1 '^(\$|mlp|mvar|exit)'
show model list --json - | python3 -c 'import json, sys; sys.stdin.readline(); print([sorted(m["options"][0]) for m in json.JSONDecoder().raw_decode(sys.stdin.read())[0]["models"] if m["name"] == "mlp"])'
show model info --model mlp --hidden-dim 3 --num_layers=1 --activation relu --batch-size 10 | sed '/^bytes/s/, activations.*//'
show model info -m mlp --hidden-dim 3 --json - | python3 -c 'import json, sys; sys.stdin.readline(); r = json.JSONDecoder().raw_decode(sys.stdin.read())[0]; print(sorted(r), r["parameters"], r["settings"]["hidden-dim"], r["bytes"]["parameters"])'
show model train --model mlp --hidden-dim 3 --input x.npy --target y.npy --steps 25 -l 0.05 --seed 3 --output w.safetensors | mask | sed '/^bytes/d'
show model train --model mlp --weights w.safetensors --input x.npy --target y.npy --epochs 3 --batch 3 --json - | python3 -c 'import json, sys; sys.stdin.readline(); r = json.JSONDecoder().raw_decode(sys.stdin.read())[0]; print(r["steps"], len(r["losses"]), r["example_data"], r["settings"]["hidden-dim"])'
show model eval --model mlp --weights w.safetensors --input x.npy --output out.npy
show model eval --model mlp --weights w.safetensors --input x.npy --output out.npy --json - | grep -A 3 '"shape"'
show model grad --model mlp --weights w.safetensors --input x.npy --target y.npy --output g.safetensors | mask
show model train --model mvar --input-dim 1 --order 2 --input series.npy --output v.safetensors | sed '/^bytes/d'
show model eval --model mvar --weights v.safetensors --input series.npy --steps 4 --output f.npy
graph='--model graph_transformer --input-dim 2 --hidden-dim 8 --num-layers 1 --num-heads 2'
show model eval $graph --nodes nodes.npy --edges edges.npy --output graph.npy
show model eval $graph --input nodes.npy --edges no-edges.npy --output graph.npy
python3 -c 'import struct; d = open("w.safetensors", "rb").read(); print(d[8:8 + struct.unpack("<Q", d[:8])[0]].decode().rstrip()[:200])'
ls
