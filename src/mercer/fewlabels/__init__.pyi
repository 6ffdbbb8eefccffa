from .anchor_pool import AnchorPool as AnchorPool
from .choice import choose_pool as choose_pool
from .learner import AutoKernel as AutoKernel
from .machine import LeaveOneOutRLS as LeaveOneOutRLS
from .pool import KernelPool as KernelPool
