python3 - <<'END'
import json, struct
def npy(path, shape, values, kind="f4", form="f"):
    head = "{'descr': '<%s', 'fortran_order': False, 'shape': %r, }\n" % (kind, shape)
    open(path, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%d%s" % (len(values), form), *values))
npy("x.npy", (2, 2), [0, 1, 2, 3])
npy("nan.npy", (2, 2), [0, 1, float("nan"), 3])
npy("wide.npy", (2, 3), [0] * 6)
npy("row.npy", (2,), [0, 1])
npy("y.npy", (2, 1), [0, 1])
npy("y3.npy", (3, 1), [0, 1, 2])
open("cut.npy", "wb").write(open("x.npy", "rb").read()[:-1])
open("text.npy", "w").write("1,2\n3,4\n")
def weights(path, tensors):
    header, data = {}, b""
    for name, shape in tensors.items():
        count = 1
        for extent in shape:
            count *= extent
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * count]}
        data += bytes(4 * count)
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)
good = {"layers.0.weight": [3, 2], "layers.0.bias": [3], "layers.1.weight": [1, 3], "layers.1.bias": [1]}
weights("w.safetensors", good)
weights("wrong.safetensors", {"layers.0.weight": [3, 2], "layers.0.bias": [4], "layers.1.weight": [1, 3], "head": [2]})
weights("foreign.safetensors", {"encoder": [2], "decoder": [3]})
open("cut.safetensors", "wb").write(open("w.safetensors", "rb").read()[:-1])
open("junk.safetensors", "wb").write(b"\xff" * 64)
END
w="--model mlp --weights w.safetensors"
show model
show model show
show model trian --model mlp
show model info
show model info --model mpl
show model info --model
show model info --model ./nothing.so
show model info --model mlp --hidden-dims 3
show model info --model mlp --hidden-dim 0 | sed 's/and [0-9]*$/and #/'
show model info --model mlp --hidden-dim 2.5
show model info --model mlp --hidden-dim many
show model info --model mlp --activation rely
show model info --model mlp --target x.npy
show model list --steps 3
show model eval $w --input x.npy
show model eval $w --output y.out
show model eval $w --input x.npy more.npy --output y.out
show model eval $w --input x.npy --output no/such/folder/y.npy
show model eval $w --input x.npy --output -
show model eval $w --input none.npy --output y.out
show model eval $w --input nan.npy --output y.out
show model eval $w --input wide.npy --output y.out
show model eval $w --input row.npy --output y.out
show model eval $w --input cut.npy --output y.out
show model eval $w --input text.npy --output y.out
show model eval $w --input x.npy --steps 3 --output y.out
show model eval $w --graph . --output y.out
show model eval --model graph_transformer --nodes x.npy --output y.out
show model eval --model graph_transformer --input x.npy --nodes x.npy --output y.out
show model eval --model mlp --weights wrong.safetensors --input x.npy --output y.out
show model eval --model mlp --weights foreign.safetensors --input x.npy --output y.out
show model eval --model mlp --weights cut.safetensors --input x.npy --output y.out
show model eval --model mlp --weights junk.safetensors --input x.npy --output y.out
show model eval --model mlp --weights none.safetensors --input x.npy --output y.out
show model eval $w --hidden-dim 4 --input x.npy --output y.out
show model grad $w --input x.npy --output g.out
show model grad $w --input x.npy --target y3.npy --output g.out
show model grad $w --input x.npy --target nan.npy --output g.out
show model train $w --target y.npy
show model train $w --input x.npy --target y.npy --steps 3 --epochs 3
show model train $w --input x.npy --target y.npy --learning-rate 0
show model train $w --input x.npy --target y.npy --learning-rate 1e30 --steps 20
show model train $w --input x.npy --target y3.npy --batch 2
show model train --model mlp --steps 1 --output same --json same
ls | sed -n "/\.out$/p"
