"""The graph transformer in PyTorch, and its encodings in SciPy and NumPy, which bench/models/graph.c runs beside ours."""
import os
import sys

import peer

try:
    import numpy
    import scipy.sparse
    import scipy.sparse.linalg
except ImportError:
    peer.skip("python3-scipy is not installed")

torch = peer.torch()
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tests", "accuracy"))
from torch_graph import GraphTransformer  # noqa: E402

torch.manual_seed(1)
model = GraphTransformer(48, 256, 6, 8, 512, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
x, edges, target = torch.randn(500, 48), torch.randint(500, (2, 2500)), torch.randn(500, 1)


def forward():
    with torch.no_grad():
        model(x, edges)


def train():
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x, edges), target).backward()
    optimizer.step()



edge_list = numpy.load(os.environ["ASSAY_BENCH_EDGES"])
nodes = int(edge_list.max()) + 1
adjacency = scipy.sparse.coo_matrix((numpy.ones(edge_list.shape[1]), tuple(edge_list)), (nodes, nodes)).tocsr()
degree = numpy.asarray(adjacency.sum(1)).ravel()
walk_matrix = (scipy.sparse.diags(1 / degree) @ adjacency).toarray().astype(numpy.float32)


def laplacian():
    """Makes the simple graph and its normalised Laplacian, and finds the 17 smallest eigenvalues by ARPACK's Lanczos
    method; one of them is trivial."""
    between = edge_list[:, edge_list[0] != edge_list[1]]
    simple = scipy.sparse.coo_matrix((numpy.ones(between.shape[1]), tuple(between)), (nodes, nodes)).tocsr()
    simple.data[:] = 1
    root = scipy.sparse.diags(1 / numpy.sqrt(numpy.asarray(simple.sum(1)).ravel()))
    matrix = scipy.sparse.identity(nodes) - root @ simple @ root
    scipy.sparse.linalg.eigsh(matrix.tocsr(), k=17, which="SA")


def walk():
    power = numpy.eye(nodes, dtype=numpy.float32)
    for _ in range(16):
        power = power @ walk_matrix
        power.diagonal().copy()


peer.serve({"forward": forward, "train": train, "laplacian": laplacian, "walk": walk})
