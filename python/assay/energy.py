"""Energy and load of the GPUs and the processor.

    from assay.energy import Meter

    with Meter() as meter:              # its thread reads ten times a second
        train()
    print(meter.energy["joules"], "J, at least", meter.energy["joules_low"])

Operations that are tracked meanwhile have `energy_joules` with bounds in the record, and the record has counters such as
"cuda:0 power_watts" and "cuda:0 utilisation". Energy is that of whole devices: what else runs on them is in it. A block
that is shorter than a counter's period (100 ms of a GPU, 1 ms of a processor) has bounds, and its joules are nan.
"""
from ._core import Meter as _Meter

__all__ = ["Meter"]


class Meter(_Meter):
    """A thread that reads what GPUs and processor do and consume.

    monitor: where to enter it; None is the default monitor, False none.
    period: seconds between two readings; 0 is the default, 0.1.
    traffic: read the traffic of the bus too, which takes 40 ms each time.
    gpu, cpu: whether to read these.
    powercap: root of the kernel's powercap tree, if not /sys/class/powercap.

    A RuntimeError or a PermissionError says why there is nothing to read. The end of a `with` block closes the meter.
    """

    __slots__ = ()
