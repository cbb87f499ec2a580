"""PyTorch, if the program uses it. Nothing here imports it."""
import contextlib
import functools
import sys

MB = 1024.0 * 1024.0


def torch():
    """The module, if the program has imported it; else None."""
    return sys.modules.get("torch")


def cuda():
    """torch.cuda where there is a GPU that it can use; else None."""
    loaded = torch()
    return _cuda_of(loaded) if loaded is not None else None


@functools.lru_cache(maxsize=1)
def _cuda_of(loaded):
    """Asked once: it takes microseconds, and blocks are measured more often than that."""
    return loaded.cuda if loaded.cuda.is_available() else None


def synchronize():
    """Wait for the GPU, which works behind the program's back."""
    gpu = cuda()
    if gpu is not None:
        gpu.synchronize()


def synchronized(function):
    """The function, followed by a wait for the GPU if there is one."""
    gpu = cuda()
    if gpu is None:
        return function

    def waiting():
        result = function()
        gpu.synchronize()
        return result
    return waiting


def current_stream(device=None):
    """The address of PyTorch's current stream on a device; None where it uses no GPU, or the device is none."""
    loaded = torch()
    if loaded is None or not loaded.cuda.is_initialized():
        return None
    if device is not None and not isinstance(device, int) and loaded.device(device).type != "cuda":
        return None
    raw = getattr(loaded._C, "_cuda_getCurrentRawStream", None)
    if device is None and raw is not None:      # a tenth of the cost of a Stream object; Triton uses it too
        return raw(loaded._C._cuda_getDevice())
    return loaded.cuda.current_stream(device).cuda_stream


def is_module(model):
    """Whether the model is a torch.nn.Module."""
    loaded = torch()
    return loaded is not None and isinstance(model, loaded.nn.Module)


def gpu_memory(device=None):
    """allocated_mb, reserved_mb and max_allocated_mb of PyTorch's allocator; None where there is no GPU."""
    gpu = cuda()
    if gpu is None:
        return None
    return {"allocated_mb": gpu.memory_allocated(device) / MB, "reserved_mb": gpu.memory_reserved(device) / MB,
            "max_allocated_mb": gpu.max_memory_allocated(device) / MB}


@contextlib.contextmanager
def evaluating(model):
    """Evaluation mode without gradients, for models of PyTorch; every module gets its own mode back."""
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
