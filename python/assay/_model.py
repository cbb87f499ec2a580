"""profile(): measures the forward and backward pass of a model."""
import json
import sys
import warnings

from . import _torch
from ._analysis import bench
from ._monitor import Monitor, Record
from ._watch import Watch
from ._watch_report import model_of


def profile(model, batch, *, backward=None, loss=None, budget_seconds=None, runs=None, warmup=None):
    """Measure calls of model(batch). Returns a record with the subject "forward" and, for PyTorch models with parameters, the subject
    "forward and backward". The record has the number and size of the parameters. For PyTorch modules it also has the FLOPs of a call by
    module and convention, and the bytes that a forward pass keeps for the backward pass.

    batch: the argument, or a tuple of arguments, or a dictionary of keywords.
    backward: whether to measure the backward pass (default: if there are parameters to learn). loss: a function of the model's output that
    returns the tensor from which the backward pass starts (default: the sum of all outputs). The model keeps its mode, and its gradients are
    restored afterwards.
    """
    if not callable(model):
        raise TypeError(f"profile() calls the model, and {type(model)} cannot be called")
    call = _call_of(model, batch)
    parameters = _parameters_of(model)
    learnt = [parameter for parameter in parameters if getattr(parameter, "requires_grad", False)]
    subjects = {"forward": _synchronized(call, parameters)}
    if backward or (backward is None and learnt):
        if not learnt:
            raise ValueError("the model has no parameters to go backward to")
        subjects["forward and backward"] = _synchronized(_training_pass(call, loss, learnt), parameters)
    kept = [parameter.grad for parameter in learnt]
    try:
        sampled = bench(*subjects.values(), names=list(subjects), budget_seconds=budget_seconds, runs=runs, warmup=warmup)
    finally:
        for parameter, gradient in zip(learnt, kept):
            parameter.grad = gradient
    return _with_model(sampled, model, call, parameters, learnt)


def _call_of(model, batch):
    if isinstance(batch, tuple):
        return lambda: model(*batch)
    if isinstance(batch, dict):
        return lambda: model(**batch)
    return lambda: model(batch)


def _parameters_of(model):
    listed = getattr(model, "parameters", None)
    return [parameter for parameter in listed() if hasattr(parameter, "numel")] if callable(listed) else []


def _name_of(model):
    return getattr(model, "__name__", None) or type(model).__name__


def _synchronized(call, parameters):
    """A function that makes the call and waits for the GPUs of the parameters, because a GPU works asynchronously."""
    devices = {parameter.device for parameter in parameters if getattr(parameter, "is_cuda", False)}
    if not devices:
        return call
    synchronize = sys.modules["torch"].cuda.synchronize

    def synchronized():
        call()
        for device in devices:
            synchronize(device)
    return synchronized


def _training_pass(call, loss, learnt):
    def forward_and_backward():
        for parameter in learnt:
            parameter.grad = None
        output = call()
        total = loss(output) if loss is not None else _sum_of(output)
        if total is None:
            raise ValueError("the model returned no tensor that depends on its parameters; give profile() a loss")
        total.backward()
    return forward_and_backward


def _sum_of(output):
    """The sum of all tensors with gradients in the output of a model, also within containers. None if there are none."""
    if hasattr(output, "requires_grad"):
        return output.sum() if output.requires_grad else None
    parts = output.values() if isinstance(output, dict) else output if isinstance(output, (list, tuple)) else ()
    sums = [total for total in map(_sum_of, parts) if total is not None]
    return sum(sums[1:], sums[0]) if sums else None


def _with_model(sampled, model, call, parameters, learnt):
    record = json.loads(sampled.json(True, False))
    record["kind"] = "profile"
    record.pop("comparisons", None)     # comparing forward with forward and backward makes no sense
    name = _name_of(model)
    for subject in record["subjects"]:
        subject["model"] = name
    known = all(hasattr(parameter, "element_size") for parameter in parameters)
    memory = {"parameters": _bytes_of(parameters) if parameters and known else None, "gradients": _bytes_of(learnt) if parameters and known else None,
              "optimizer_state": None, "activations": None}
    record["models"] = [_traced(name, model, call, memory) if _torch.is_module(model)
                        else model_of(name, parameters, memory, None, (), {})]
    return Record.from_dict(record)


def _bytes_of(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _traced(name, model, call, memory):
    """The entry of a PyTorch module in the record, with the FLOPs and activations of one more call."""
    with Monitor(enabled=False) as nothing, warnings.catch_warnings():
        warnings.simplefilter("ignore")         # warnings about compiled parts, whose figures are part of the whole
        watched = Watch(model, monitor=nothing, name=name, backward=False)
        with watched:
            call()
        memory["activations"] = watched.memory()["activations"]
        return model_of(name, model.parameters(), memory, watched.traced(), watched.modules, {})
