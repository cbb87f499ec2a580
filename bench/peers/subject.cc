// The identical subjects of bench/peers.sh.
//   subject once N            does the work N times and ends, for tools that time commands
//   subject --benchmark_...   is a Google Benchmark of one piece of work
#include <cstdlib>
#include <cstring>

#include <benchmark/benchmark.h>

// About 20 microseconds of dependent arithmetic in registers.
static double work()
{
    double x = 0.5;
    for (int i = 0; i < 5000; i++) {
        x = 3.9 * x * (1.0 - x);
        benchmark::DoNotOptimize(x);
    }
    return x;
}

static void same(benchmark::State &state)
{
    for (auto _ : state)
        benchmark::DoNotOptimize(work());
}
BENCHMARK(same);

int main(int argc, char **argv)
{
    if (argc == 3 && std::strcmp(argv[1], "once") == 0) {
        for (long i = std::atol(argv[2]); i > 0; i--)
            benchmark::DoNotOptimize(work());
        return 0;
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
