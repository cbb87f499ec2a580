"""Six examples of assay.memory_monitor that can be run.

    python examples/performance_monitoring_examples.py
"""
import time

from assay.memory_monitor import EpochPerformanceMonitor, PerformanceMonitor, monitor_performance, track_performance


def load():
    """Stands for the loading of data: it takes time and memory."""
    time.sleep(0.02)
    return [float(number) for number in range(200_000)]


def forward(data):
    return sum(value * value for value in data)


def basic():
    """1. Basic PerformanceMonitor usage"""
    monitor = PerformanceMonitor()
    with monitor.track("data loading"):
        data = load()
    with monitor.track("model forward"):
        forward(data)
    monitor.print_summary()


def aggregated():
    """2. Aggregated operation tracking"""
    monitor = PerformanceMonitor()
    data = load()
    for _ in range(5):
        with monitor.track("batch_forward", aggregate=True):
            forward(data)
        with monitor.track("batch_backward", aggregate=True):
            forward(data[::2])
    monitor.print_summary(show_aggregate=True)


def context_manager():
    """3. Context manager usage"""
    with track_performance("critical_operation"):
        load()


@monitor_performance("data processing")
def process_batch(batch):
    return forward(batch)


def decorator():
    """4. Function decorators"""
    process_batch([1.0, 2.0])


def training_loop():
    """5. Training loop monitoring"""
    monitor = EpochPerformanceMonitor(enabled=True, verbose_batches=2)
    batches = [load()[:50_000] for _ in range(3)]
    for _ in range(2):
        monitor.on_epoch_start()
        for batch_idx, batch in enumerate(batches):
            monitor.on_batch_start(batch_idx)
            loss = 1.0 / (1.0 + forward(batch))
            monitor.on_batch_end(batch_idx, loss)
        monitor.on_epoch_end()
    print(f"Average batch time: {monitor.get_statistics()['avg_batch_time']:.3f}s")


def bottleneck():
    """6. Bottleneck identification"""
    monitor = PerformanceMonitor()
    with monitor.track("data_loading"):
        data = load()
    with monitor.track("model_forward"):
        for _ in range(20):
            forward(data)
    total_time = monitor.get_total_time()
    for metric in monitor.get_metrics():
        percentage = 100 * metric.duration_seconds / total_time
        if percentage > 50:
            print(f"BOTTLENECK: {metric.operation} ({percentage:.1f}%)")


if __name__ == "__main__":
    for example in (basic, aggregated, context_manager, decorator, training_loop, bottleneck):
        print(f"\n{example.__doc__}")
        example()
