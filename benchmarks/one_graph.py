"""CPU seconds and memory of one basis of 50 directions at many points.

    python benchmarks/one_graph.py graph|anchors [n]

Points of 50 columns in single precision, 20 Gaussians of ten dimensions each. A fit of
20,000 points compiles first and does not count. Memory is the largest of the process.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import resource
import sys
import time

from mercer.spectrum.anchor import AnchorBasis
from mercer.spectrum.graph import GraphBasis
from mercer_studies.bench.data import mixture

kind, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
make = {"graph": GraphBasis, "anchors": AnchorBasis}[kind]
X = mixture(n)["X"]
make(50, random_state=0).fit(X[:20_000])
start = time.process_time()
basis = make(50, random_state=0).fit(X)
seconds = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(f"| {kind} | {n:,} | {seconds:.1f} | {peak:.1f} | {basis.certificate_.method} |")
