"""Objects that hold tensors, in files: arrays, which any machine can read."""

from typing import Any

from mercer._base.tensors import is_tensor, torch


def here(device: str) -> str:
    """Return a device, or the processor where this machine does not have it.

    Examples
    --------
    >>> here("cpu")
    'cpu'
    """
    if not device.startswith("cuda"):
        return device
    number = int(device.partition(":")[2] or 0)
    return device if number < torch().cuda.device_count() else "cpu"


class InFiles:
    """Tensors among the attributes are arrays in a file.

    They come back to the device they were on, or to the processor.
    """

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        tensors = [name for name, value in state.items() if is_tensor(value)]
        device = str(state[tensors[0]].device) if tensors else "cpu"
        for name in tensors:
            state[name] = state[name].detach().cpu().numpy()
        return {**state, "_tensors": tensors, "_device": device}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        device = here(state.pop("_device"))
        for name in state.pop("_tensors"):
            state[name] = torch().as_tensor(state[name], device=device)
        vars(self).update(state)
