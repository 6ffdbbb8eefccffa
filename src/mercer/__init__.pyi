from ._labels import UNLABELED as UNLABELED
from .active.loop import History as History
from .active.loop import learn_actively as learn_actively
from .active.pairs import next_pairs as next_pairs
from .active.pairs import select_constraints as select_constraints
from .advice import does_unlabeled_help as does_unlabeled_help
from .clustering import cluster as cluster
from .kernels.columns import OnColumns as OnColumns
from .kernels.composite import Weighted as Weighted
from .kernels.normalized import Centered as Centered
from .kernels.normalized import Normalized as Normalized
from .kernels.normalized import TraceNormalized as TraceNormalized
from .kernels.parametric import RBF as RBF
from .kernels.parametric import Linear as Linear
from .kernels.parametric import Polynomial as Polynomial
from .kernels.precomputed import Precomputed as Precomputed
from .kernels.spec import as_kernel as as_kernel
from .learners.auto import AutoKernel as AutoKernel
from .learners.closed_form import ClosedFormKernel as ClosedFormKernel
from .learners.closed_form import ClosedFormKernelCV as ClosedFormKernelCV
from .learners.combination import AverageKernel as AverageKernel
from .learners.combination import CenteredAlignmentKernel as CenteredAlignmentKernel
from .learners.decaying import DecayingKernel as DecayingKernel
from .learners.filter_kernel import FilterKernel as FilterKernel
from .learners.influence import InfluenceKernel as InfluenceKernel
from .learners.npkl_sdp import NPKL as NPKL
from .learners.ordered import OrderedKernel as OrderedKernel
from .learners.pairwise import PairwiseKernel as PairwiseKernel
from .learners.parameter_free import ParameterFreeKernel as ParameterFreeKernel
from .machines.annealed import AnnealedKernelMachine as AnnealedKernelMachine
from .machines.annealed_graph import (
    GraphAnnealedKernelMachine as GraphAnnealedKernelMachine,
)
from .machines.klr import KernelLogisticRegression as KernelLogisticRegression
from .machines.laplacian import LapRLS as LapRLS
from .machines.laplacian import LapSVM as LapSVM
from .machines.laplacian_cv import LapRLSCV as LapRLSCV
from .machines.laplacian_cv import LapSVMCV as LapSVMCV
from .machines.loo_rls import LeaveOneOutRLS as LeaveOneOutRLS
from .machines.rls import RLSClassifier as RLSClassifier
from .machines.simple_mkl import SimpleMKL as SimpleMKL
from .machines.simple_mkl import candidate_kernels as candidate_kernels
from .machines.svm import KernelSVC as KernelSVC
from .model_selection import LabeledScorer as LabeledScorer
from .model_selection import SemiSupervisedKFold as SemiSupervisedKFold
from .model_selection import TemperatureScaledClassifier as TemperatureScaledClassifier
from .pairs import Pairs as Pairs
from .persist import load as load
from .persist import save as save
from .spectrum.anchor import AnchorBasis as AnchorBasis
from .spectrum.gram import GramBasis as GramBasis
from .spectrum.graph import GraphBasis as GraphBasis
from .spectrum.kernel import SpectralKernel as SpectralKernel
from .spectrum.pool import PoolBasis as PoolBasis
from .unified import UnifiedKernelMachine as UnifiedKernelMachine

__version__: str
