from . import active as active
from . import datasets as datasets
from . import fewlabels as fewlabels
from . import graphs as graphs
from . import kernels as kernels
from . import learners as learners
from . import machines as machines
from . import model_selection as model_selection
from . import plotting as plotting
from . import spectrum as spectrum
from . import tables as tables
from ._labels import UNLABELED as UNLABELED
from .active.loop import learn_actively as learn_actively
from .clustering import cluster as cluster
from .kernels.parametric import RBF as RBF
from .learners.pairwise import PairwiseKernel as PairwiseKernel
from .learners.parameter_free import ParameterFreeKernel as ParameterFreeKernel
from .machines.klr import KernelLogisticRegression as KernelLogisticRegression
from .model_selection import SemiSupervisedKFold as SemiSupervisedKFold
from .pairs import Pairs as Pairs
from .persist import load as load
from .persist import save as save
from .spectrum.graph import GraphBasis as GraphBasis
from .tables.learning import learn as learn
from .unified import UnifiedKernelMachine as UnifiedKernelMachine

__version__: str
