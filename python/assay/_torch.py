"""Functions for programs that use PyTorch. This module does not import PyTorch; it uses it only if the program has imported it."""
import contextlib
import functools
import sys
import threading
import weakref

from ._log import log

MB = 1024.0 * 1024.0


def torch():
    """The module torch if the program has imported it, otherwise None."""
    return sys.modules.get("torch")


def cuda():
    """torch.cuda if there is a GPU that it can use, otherwise None."""
    loaded = torch()
    return _cuda_of(loaded) if loaded is not None else None


@functools.lru_cache(maxsize=1)
def _cuda_of(loaded):
    """The same, cached, because is_available() takes microseconds, and blocks that are measured call this often."""
    return loaded.cuda if loaded.cuda.is_available() else None


# Devices of PyTorch that have no figures here. A device of another kind may be given as a torch.device.
_OTHER_KINDS = frozenset({"cpu", "hip", "hpu", "meta", "mps", "mtia", "npu", "vulkan", "xla", "xpu"})


def index_of(device):
    """The number of the GPU that 1, "cuda:1" or torch.device("cuda", 1) names; -1 for "cuda", the current GPU; None for other devices ("cpu").
    A ValueError for what is no device: if a misspelt GPU counted as another device, nobody would wait for the GPU."""
    if isinstance(device, int):
        return int(device)
    kind, colon, number = str(device).partition(":")
    known = kind == "cuda" or kind in _OTHER_KINDS or getattr(device, "type", None) == kind
    if not known or colon and not number.isdecimal():
        raise ValueError(f"a device is a number, \"cpu\", \"cuda\" or \"cuda:1\", not {device!r}")
    return None if kind != "cuda" else int(number) if colon else -1


def why_not(device):
    """The reason why PyTorch cannot use this GPU. None if it can, for devices that are not GPUs, and if no device is given."""
    index = index_of(device) if device is not None else None
    if index is None:
        return None
    gpu = cuda()
    if gpu is None:
        return "PyTorch finds no GPU here" if torch() is not None else "the program does not use PyTorch"
    count = gpu.device_count()
    if index < -1 or isinstance(device, int) and index < 0 or index >= count:
        return f"PyTorch sees {count} GPU{'s' if count != 1 else ''}"
    return None


@functools.lru_cache(maxsize=64)
def _say_once(device, reason):
    log("warning", "there is no device %s, so that nothing is measured on it: %s", device, reason)


def cuda_on(device):
    """torch.cuda if the device is a GPU that it can use, or if no device is given and there is a GPU; otherwise None. A GPU that does not exist
    is reported once with a warning, and then has no figures."""
    index = index_of(device) if device is not None else -1
    gpu = cuda()
    if gpu is None or device is None:
        return gpu
    if index is None:
        return None
    reason = why_not(device)
    if reason is not None:
        _say_once(str(device), reason)
    return gpu if reason is None else None


def check_device(device):
    """Raise a RuntimeError with the reason if the device is a GPU that does not exist."""
    reason = why_not(device)
    if reason is not None:
        raise RuntimeError(f"there is no device {device!r}: {reason}; use device=\"cpu\", or leave it out")


def device_of(model):
    """The GPU that holds the parameters of a model; None if they are not on a GPU."""
    listed = getattr(model, "parameters", None)
    first = next(iter(listed()), None) if callable(listed) else None
    return first.device if getattr(first, "is_cuda", False) else None


def synchronize(device=None):
    """Wait until the GPU has finished: the given one, or the current one. A GPU works asynchronously."""
    gpu = cuda_on(device)
    if gpu is not None:
        gpu.synchronize(device)


def synchronized(function, device=None):
    """A function that calls the given one and then waits for the GPU. Without a GPU it is the given function."""
    gpu = cuda_on(device)
    if gpu is None:
        return function

    def waiting():
        result = function()
        gpu.synchronize(device)
        return result
    return waiting


def current_stream(device=None):
    """The address of PyTorch's current stream on a device. None if PyTorch uses no GPU, or if the device is not a GPU."""
    loaded = torch()
    if device is not None and index_of(device) is None or loaded is None or not loaded.cuda.is_initialized():
        return None
    if device is not None and not isinstance(device, int) and loaded.device(device).type != "cuda":
        return None
    raw = getattr(loaded._C, "_cuda_getCurrentRawStream", None)
    if device is None and raw is not None:      # costs a tenth of making a Stream object; Triton uses this function too
        return raw(loaded._C._cuda_getDevice())
    return loaded.cuda.current_stream(device).cuda_stream


def is_module(model):
    """Whether the model is a torch.nn.Module."""
    loaded = torch()
    return loaded is not None and isinstance(model, loaded.nn.Module)


def gpu_memory(device=None, peak=None):
    """allocated_mb, reserved_mb and max_allocated_mb of PyTorch's allocator, or the maximum that a Peak has seen. None if there is no GPU."""
    gpu = cuda_on(device)
    if gpu is None:
        return None
    most = peak.read() if peak is not None else gpu.max_memory_allocated(device)
    return {"allocated_mb": gpu.memory_allocated(device) / MB, "reserved_mb": gpu.memory_reserved(device) / MB, "max_allocated_mb": most / MB}


# The peaks that are being measured. Those of one GPU share the peak of PyTorch's allocator, and each begins by resetting it.
_peaks = weakref.WeakSet()
_peaks_lock = threading.Lock()


def gpu_index(gpu, device=None):
    """The number of a GPU; that of the current one if no device or no number is given."""
    index = index_of(device) if device is not None else -1
    return gpu.current_device() if index == -1 else index


class Peak:
    """The peak of the memory of a GPU from now on, in bytes. Others that are being measured keep what they have seen until now."""

    def __init__(self, gpu, device=None):
        self._gpu, self._device, self.seen = gpu, device, 0
        self.index = gpu_index(gpu, device)
        with _peaks_lock:
            before = gpu.max_memory_allocated(device)
            for peak in _peaks:
                if peak.index == self.index:
                    peak.seen = max(peak.seen, before)
            gpu.reset_peak_memory_stats(device)
            _peaks.add(self)

    def read(self):
        return max(self.seen, self._gpu.max_memory_allocated(self._device))

    def end(self):
        """read(), and measure no longer."""
        with _peaks_lock:
            _peaks.discard(self)
        return self.read()


@contextlib.contextmanager
def evaluating(model):
    """Put a PyTorch model into evaluation mode without gradients. Afterwards every module gets its former mode back."""
    if not is_module(model):
        yield
        return
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        with torch().no_grad():
            yield
    finally:
        for part, training in modes:
            part.training = training
