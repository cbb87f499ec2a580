"""Energy and load of the GPUs and the processor.

    from assay.energy import Meter

    with Meter() as meter:              # its thread reads ten times a second
        train()
    print(meter.energy["joules"], "J, at least", meter.energy["joules_low"])

Operations that are tracked meanwhile have `energy_joules` with bounds in the record, and the record has counters such as
"cuda:0 power_watts" and "cuda:0 utilisation". The energy is that of whole devices, including other programs that use them.
A block that is shorter than the period of a counter (100 ms on an H200, 1 ms on a processor; the meter learns it) has bounds, and its joules are nan.
"""
from ._core import Meter as _Meter

__all__ = ["Meter"]


class Meter(_Meter):
    """A thread that reads the load and the energy of GPUs and processor.

    monitor: the monitor that receives the readings; None means the default monitor, False means no monitor.
    period: seconds between two readings; 0 means the default, 0.1.
    traffic: also read the traffic of the bus, which takes 40 ms each time.
    gpu, cpu: whether to read the GPUs and the processor.
    powercap: the root of the kernel's powercap tree, if it is not /sys/class/powercap.

    If nothing can be read, a RuntimeError or a PermissionError says why. The end of a `with` block closes the meter.
    """

    __slots__ = ()
