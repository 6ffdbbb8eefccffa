from ._labels import UNLABELED as UNLABELED
from .kernels.parametric import RBF as RBF
from .kernels.parametric import Linear as Linear
from .kernels.parametric import Polynomial as Polynomial
from .learners.closed_form import ClosedFormKernel as ClosedFormKernel
from .learners.closed_form import ClosedFormKernelCV as ClosedFormKernelCV
from .learners.parameter_free import ParameterFreeKernel as ParameterFreeKernel
from .machines.klr import KernelLogisticRegression as KernelLogisticRegression
from .machines.rls import RLSClassifier as RLSClassifier
from .spectrum.graph import GraphBasis as GraphBasis

__version__: str
