from .learner import AutoKernel as AutoKernel
from .machine import LeaveOneOutRLS as LeaveOneOutRLS
from .pools.anchors import AnchorPool as AnchorPool
from .pools.choice import choose_pool as choose_pool
from .pools.device import TorchPool as TorchPool
from .pools.neighbors import KernelPool as KernelPool
from .pools.view import View as View
