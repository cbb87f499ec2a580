"""The safetensors format in plain Python and NumPy, written independently of the C code that it is compared with.

    save("w.safetensors", {"fc.weight": array}, metadata={"key": "text"})
    arrays = load("w.safetensors")            # name -> numpy array, float32 from bfloat16
    arrays, metadata = load_with_metadata("w.safetensors")
    save("h.safetensors", {"fc.weight": array}, bfloat16={"fc.weight"})

A script in this folder imports it by name. Arrays of PyTorch: tensor.detach().numpy().
"""
import json
import struct

import numpy

_NAMES = {"float32": "F32", "float64": "F64", "float16": "F16", "int64": "I64", "int32": "I32",
          "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL"}
_TYPES = {name: numpy.dtype(kind) for kind, name in _NAMES.items()}


def _bfloat16_bits(array):
    """Round to nearest even, as hardware does."""
    bits = numpy.ascontiguousarray(array, dtype=numpy.float32).view(numpy.uint32).astype(numpy.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def save(path, arrays, metadata=None, bfloat16=()):
    header, blobs, offset = {}, [], 0
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, array in arrays.items():
        array = numpy.asarray(array)
        if name in bfloat16:
            kind, data = "BF16", _bfloat16_bits(array).tobytes()
        else:
            kind, data = _NAMES[array.dtype.name], array.tobytes(order="C")
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [offset, offset + len(data)]}
        blobs.append(data)
        offset += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def load_with_metadata(path):
    with open(path, "rb") as stream:
        content = stream.read()
    (length,) = struct.unpack("<Q", content[:8])
    header, data, arrays = json.loads(content[8:8 + length]), content[8 + length:], {}
    metadata = header.pop("__metadata__", {})
    end = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        assert begin == end and stop <= len(data), (name, entry, end)
        end = stop
        if entry["dtype"] == "BF16":
            values = (numpy.frombuffer(data[begin:stop], "<u2").astype(numpy.uint32) << 16).view(numpy.float32)
        else:
            values = numpy.frombuffer(data[begin:stop], _TYPES[entry["dtype"]])
        arrays[name] = values.reshape(entry["shape"]).copy()
    assert end == len(data), "bytes that belong to no tensor"
    return {name: arrays[name] for name in header}, metadata


def load(path):
    return load_with_metadata(path)[0]
