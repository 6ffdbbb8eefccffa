from .learner import AutoKernel as AutoKernel
from .machine import LeaveOneOutRLS as LeaveOneOutRLS
from .pool import KernelPool as KernelPool
