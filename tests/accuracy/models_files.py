"""Files of models, read and written by libassay_models through ctypes, against NumPy's own reader and
writer, safetensors.py, and a plain Python reader of graph folders. Run by test_models_files.sh."""
import ctypes
import gzip
import io
import os
import subprocess
import sys

import numpy

import safetensors

library = ctypes.CDLL(sys.argv[1])
F32, F64, I64 = 1, 2, 3
TYPES = {F32: numpy.float32, F64: numpy.float64, I64: numpy.int64}


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("element", ctypes.c_int), ("rank", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * 4), ("data", ctypes.c_void_p)]


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("message", ctypes.c_char * 512)]


def array_of(tensor):
    shape, kind = tuple(tensor.shape[:tensor.rank]), TYPES[tensor.element]
    count = int(numpy.prod(shape, dtype=numpy.int64))
    size = count * numpy.dtype(kind).itemsize
    return numpy.frombuffer(ctypes.string_at(tensor.data, size), kind).reshape(shape)


def load_npy(path, element):
    tensor, error = Tensor(), Error()
    status = library.assay_tensor_load_npy(path.encode(), element, ctypes.byref(error), ctypes.byref(tensor))
    if status != 0:
        return status, error.message.decode()
    result = array_of(tensor)
    library.assay_tensor_release(ctypes.byref(tensor))
    return 0, result


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def write_npy(path, array, version, order):
    ordered = numpy.array(array, order=order)
    with open(path, "wb") as stream:
        numpy.lib.format.write_array(stream, ordered, version=version)


def test_npy_reading():
    random, count = numpy.random.default_rng(1), 0
    shapes = [(), (1,), (7,), (3, 4), (2, 3, 5), (2, 1, 3, 4), (0, 3), (5, 0)]
    kinds = ["<f2", "<f4", "<f8", ">f2", ">f4", ">f8", "|b1", "|i1", "|u1", "<i2", ">i2", "<u2", "<i4", ">i4",
             "<u4", ">u4", "<i8", ">i8", "<u8"]
    for kind in kinds:
        for shape in shapes:
            for order in "CF":
                for version in [(1, 0), (2, 0), (3, 0)]:
                    array = numpy.asarray(random.integers(0 if "u" in kind else -100, 100, shape)).astype(kind)
                    if numpy.dtype(kind).kind == "f":
                        array = numpy.asarray(random.normal(size=shape)).astype(kind)
                    write_npy("a.npy", array, version, order)
                    for element in [F32, F64] + ([I64] if array.dtype.kind != "f" else []):
                        status, got = load_npy("a.npy", element)
                        check(status == 0, f"{kind} {shape} {order} {version}: {got}")
                        check(got.shape == shape and numpy.array_equal(got, array.astype(TYPES[element])),
                              f"{kind} {shape} {order} {version} -> {element}: values")
                        count += 1
    print(f"npy: {count} reads agree with NumPy")


def test_npy_losses():
    for array, element, part in [
            (numpy.array([1.5]), I64, "whole number"), (numpy.array([numpy.nan]), I64, "whole number"),
            (numpy.array([2 ** 63], dtype=numpy.uint64), I64, "whole number"),
            (numpy.array([1.0, 1e39]), F32, "value 1 is too large"),
            (numpy.array(["text"]), F32, "type"), (numpy.zeros((1,) * 5), F32, "more than 4 axes"),
            (numpy.array([1j]), F32, "type")]:
        numpy.save("bad.npy", array)
        status, message = load_npy("bad.npy", element)
        check(status != 0 and part in message, f"{array.dtype}: {status} {message}")
    numpy.save("whole.npy", numpy.array([3.0, -4.0]))
    check(list(load_npy("whole.npy", I64)[1]) == [3, -4], "whole floats are integers")
    numpy.save("nan.npy", numpy.array([numpy.nan, -numpy.inf]))  # kept here, refused by models
    got = load_npy("nan.npy", F32)[1]
    check(numpy.isnan(got[0]) and got[1] == -numpy.inf, "NaN is kept")
    os.mkfifo("pipe")
    writer = subprocess.Popen(["sh", "-c", "cat whole.npy >pipe"])
    check(list(load_npy("pipe", F64)[1]) == [3.0, -4.0], "from a pipe")
    writer.wait()


def test_npy_writing():
    for element, kind in TYPES.items():
        for shape in [(), (1,), (9,), (2, 3), (1, 2, 3), (2, 1, 1, 2), (0, 4)]:
            array = numpy.asarray(numpy.random.default_rng(2).normal(size=shape) * 10).astype(kind)
            tensor, error = Tensor(None, element, len(shape), (ctypes.c_int64 * 4)(*shape), array.ctypes.data), Error()
            status = library.assay_tensor_save_npy(ctypes.byref(tensor), b"out.npy", ctypes.byref(error))
            check(status == 0, error.message)
            back = numpy.load("out.npy", allow_pickle=False)
            check(back.dtype == kind and back.shape == shape and numpy.array_equal(back, array), f"write {kind} {shape}")
            stream = io.BytesIO()
            numpy.save(stream, array)
            check(open("out.npy", "rb").read() == stream.getvalue(), f"write {kind} {shape}: bytes as numpy.save's")
    print("npy: files as numpy.save writes them, byte by byte")


def assay(*arguments):
    return subprocess.run([sys.argv[2], "model", *arguments], capture_output=True, text=True)


def test_safetensors():
    """Through the smallest model: one hidden unit would hide transpositions, so take odd sizes."""
    shape = ["--model", "mlp", "--input-dim", "3", "--hidden-dim", "5", "--num-layers", "2", "--output-dim", "2",
             "--activation", "relu"]
    made = assay("train", *shape, "--steps", "3", "--seed", "7", "--output", "w.safetensors")
    check(made.returncode == 0, made.stderr)
    arrays, metadata = safetensors.load_with_metadata("w.safetensors")
    check(metadata["assay.model"] == "mlp" and metadata["assay.activation"] == "relu", f"metadata {metadata}")
    check(os.path.getsize("w.safetensors") % 4 == 0, "aligned")
    with open("w.safetensors", "rb") as stream:
        check(int.from_bytes(stream.read(8), "little") % 8 == 0, "the header is padded to 8 bytes")
    numpy.save("x.npy", numpy.random.default_rng(3).normal(size=(4, 3)).astype(numpy.float32))

    def evaluate(path, *more):
        run = assay("eval", "--model", "mlp", "--weights", path, "--input", "x.npy", "--output", "y.npy", *more)
        check(run.returncode == 0, run.stderr)
        return numpy.load("y.npy")

    def by_hand(weights):
        h = numpy.load("x.npy").astype(numpy.float64)
        for layer in range(3):
            h = h @ weights[f"layers.{layer}.weight"].astype(numpy.float64).T + weights[f"layers.{layer}.bias"]
            h = numpy.maximum(h, 0) if layer < 2 else h
        return h

    reference = evaluate("w.safetensors")  # the activation is in the metadata
    check(numpy.allclose(reference, by_hand(arrays), rtol=1e-5, atol=1e-6), "the weights mean what they say")
    relu = ("--activation", "relu")
    safetensors.save("same.safetensors", dict(reversed(list(arrays.items()))))
    check(numpy.array_equal(evaluate("same.safetensors", *relu), reference), "written by Python, in another order")
    safetensors.save("f64.safetensors", {n: a.astype(numpy.float64) for n, a in arrays.items()})
    check(numpy.array_equal(evaluate("f64.safetensors", *relu), reference), "float64")
    halves = {n: a.astype(numpy.float16) for n, a in arrays.items()}
    safetensors.save("f16.safetensors", halves)
    check(numpy.allclose(evaluate("f16.safetensors", *relu), by_hand(halves), rtol=1e-5, atol=1e-6), "float16")
    safetensors.save("bf16.safetensors", arrays, bfloat16=set(arrays))
    check(numpy.allclose(evaluate("bf16.safetensors", *relu), by_hand(safetensors.load("bf16.safetensors")),
                         rtol=1e-5, atol=1e-6), "bfloat16")

    # Everything that is wrong is named, though it does not fit one message.
    bad = {f"layers.{i}.extra_with_a_long_name_{i:03}": numpy.zeros(1, numpy.float32) for i in range(40)}
    bad["layers.0.weight"] = arrays["layers.0.weight"]
    bad["layers.1.weight"] = arrays["layers.1.weight"][:, :2]
    bad["layers.1.bias"] = arrays["layers.1.bias"].astype(numpy.int64)
    bad["layers.2.weight"] = arrays["layers.2.weight"]
    safetensors.save("bad.safetensors", bad)
    run = assay("eval", *shape, "--weights", "bad.safetensors", "--input", "x.npy", "--output", "y.npy")
    check(run.returncode == 65, f"exit {run.returncode}: {run.stderr}")
    for name in [n for n in bad if n not in ("layers.0.weight", "layers.2.weight")] + ["layers.0.bias", "layers.2.bias"]:
        check(f"'{name}'" in run.stderr, f"{name} is not named:\n{run.stderr}")
    check("'layers.0.weight'" not in run.stderr, "a good tensor is named")
    run = assay("eval", "--model", "siren", "--weights", "w.safetensors", "--input", "x.npy", "--output", "y.npy")
    check(run.returncode == 65 and "mlp" in run.stderr, f"weights of another model: {run.stderr}")
    poisoned = {n: a.copy() for n, a in arrays.items()}
    poisoned["layers.1.bias"][2] = numpy.nan
    safetensors.save("nan.safetensors", poisoned)
    run = assay("eval", *shape, "--weights", "nan.safetensors", "--input", "x.npy", "--output", "y.npy")
    check(run.returncode == 65 and "NaN at (2)" in run.stderr, run.stderr)
    print("safetensors: F32, F64, F16, BF16 and metadata agree with an independent reader and writer")


def test_graph_folder():
    random = numpy.random.default_rng(4)
    sizes, edges = [3, 1, 6], [4, 0, 9]
    features = random.normal(size=(sum(sizes), 3)).astype(numpy.float32)
    pairs = [random.integers(0, n, (e, 2)) for n, e in zip(sizes, edges)]
    text = {"num-node-list": "".join(f"{n}\n" for n in sizes), "num-edge-list": "".join(f"{e}\n" for e in edges),
            "edge": "".join(f"{a},{b}\n" for p in pairs for a, b in p),
            "node-feat": "".join(",".join(repr(float(v)) for v in row) + "\n" for row in features),
            "graph-label": "0,1\n1,0\n0.5,-2\n"}
    for place, packed in [("plain", False), ("packed", True), ("dataset/raw", True)]:
        os.makedirs(place)
        for name, content in text.items():
            path = f"{place}/{name}.csv"
            if packed:
                with gzip.open(path + ".gz", "wt") as stream:
                    stream.write(content)
            else:
                with open(path, "w") as stream:
                    stream.write(content)
        tensors, error, labels = (Tensor * 3)(), Error(), Tensor()
        folder = place.split("/")[0].encode()
        status = library.assay_tensor_load_graph(folder, ctypes.byref(error), tensors)
        check(status == 0, error.message)
        offsets = numpy.cumsum([0] + sizes)
        expected = numpy.concatenate([p + o for p, o in zip(pairs, offsets)]).T
        check(numpy.array_equal(array_of(tensors[0]), features), "node features")
        check(numpy.array_equal(array_of(tensors[1]), expected), "edges")
        check(numpy.array_equal(array_of(tensors[2]), numpy.repeat(range(3), sizes)), "graphs")
        status = library.assay_tensor_load_graph_labels(folder, ctypes.byref(error), ctypes.byref(labels))
        check(status == 0 and array_of(labels).tolist() == [[0, 1], [1, 0], [0.5, -2]], "labels")
        for tensor in list(tensors) + [labels]:
            library.assay_tensor_release(ctypes.byref(tensor))
    whole = open("packed/edge.csv.gz", "rb").read()
    for content, part in [(whole[:-12], b"cannot be unpacked"), (whole[:20] + b"\xff\xff\xff" + whole[23:], b"edge.csv.gz")]:
        with open("packed/edge.csv.gz", "wb") as stream:
            stream.write(content)
        tensors, error = (Tensor * 3)(), Error()
        status = library.assay_tensor_load_graph(b"packed", ctypes.byref(error), tensors)
        check(status != 0 and part in error.message, f"damaged gzip: {status} {error.message}")
    print("graph folders: plain, packed and in raw/ agree with what was written")


test_npy_reading()
test_npy_losses()
test_npy_writing()
test_safetensors()
test_graph_folder()
