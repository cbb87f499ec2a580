"""Formats figures as short texts."""

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB")


def digits(value):
    """Four significant digits, without an exponent unless the number is huge."""
    if value is None or value != value:
        return "n/a"
    return f"{float(f'{value:.4g}'):.10g}"


def fixed(value):
    """Four significant digits with their zeros: 1.500, 12.30, 123.0."""
    places = 3 if abs(value) < 10 else 2 if abs(value) < 100 else 1 if abs(value) < 1000 else 0
    return f"{value:.{places}f}"


def seconds(value):
    """A duration, such as "1.234 ms"."""
    if value is None or value != value:
        return "n/a"
    scale, unit = next(((scale, unit) for scale, unit in _UNITS if abs(value) >= scale), _UNITS[-1])
    return f"{fixed(value / scale)} {unit}" if value else "0 s"


def size(value):
    """A number of bytes, such as "12.30 MiB"."""
    if value is None or value != value:
        return "n/a"
    power = 0
    while abs(value) >= 1024 and power < len(_SIZES) - 1:
        value, power = value / 1024, power + 1
    return f"{fixed(value) if power else f'{value:.0f}'} {_SIZES[power]}"


def ratio(value):
    """A ratio with four significant digits, such as "1.450" or "12.30"."""
    return "n/a" if value is None or value != value else fixed(value)


def interval(low, high, show=ratio):
    """An interval, such as "1.440 … 1.460"."""
    return f"{show(low)} … {show(high)}" if low is not None and high is not None else "n/a"
