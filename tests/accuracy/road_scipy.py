"""Computes the measures of the samples and lines in FOLDER with NumPy and SciPy, and prints one number on each line, for
test_models_road_evaluate.c. The haversine formula and dynamic time warping are implemented here a second time."""
import sys

import numpy
from scipy.spatial.distance import cdist, directed_hausdorff, jensenshannon


def read(name, columns=1):
    values = numpy.loadtxt(f"{sys.argv[1]}/{name}", ndmin=1)
    return values.reshape(-1, columns) if columns > 1 else values


def sample_divergence(real, generated):
    edges = numpy.append(numpy.linspace(0, real.max(), 100), numpy.inf)
    return jensenshannon(numpy.histogram(real, edges)[0], numpy.histogram(generated, edges)[0]) ** 2


def haversine_km(a, b):
    (lon_a, lat_a), (lon_b, lat_b) = numpy.radians(a), numpy.radians(b)
    h = numpy.sin((lat_b - lat_a) / 2) ** 2 + numpy.cos(lat_a) * numpy.cos(lat_b) * numpy.sin((lon_b - lon_a) / 2) ** 2
    return 2 * 6371.0088 * numpy.arcsin(numpy.sqrt(h))


def warping(distances):
    table = numpy.full((distances.shape[0] + 1, distances.shape[1] + 1), numpy.inf)
    table[0, 0] = 0
    for i in range(distances.shape[0]):
        for j in range(distances.shape[1]):
            table[i + 1, j + 1] = distances[i, j] + min(table[i, j], table[i, j + 1], table[i + 1, j])
    return table[-1, -1]


print(repr(float(jensenshannon(read("p"), read("q")) ** 2)))
print(repr(float(sample_divergence(read("real"), read("generated")))))
a, b = read("a", 2), read("b", 2)
print(repr(float(max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0]))))
print(repr(float(warping(cdist(a, b)))))
circles = cdist(a, b, haversine_km)
print(repr(float(max(circles.min(1).max(), circles.min(0).max()))))
print(repr(float(warping(circles))))
