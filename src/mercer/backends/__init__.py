"""Work of the size of the data on other devices: PyTorch and Dask.

With PyTorch three seams hold all such work: the neighbour search (`torch_search`), the
eigenpairs of a graph (`torch_graph`, `torch_eigen`) and the products of the features of
all points (`torch_features`). With Dask the anchor pool is computed block by block
(`dask_`). Everything above sees small NumPy arrays. PyTorch and Dask are imported only
here, and only when their arrays come or a device is asked for.
"""
