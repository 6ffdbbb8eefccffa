"""Images by a vision model, through transformers: DINOv2, CLIP and others."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer.app.embedding.embedder import Vectors, unit
from mercer.app.embedding.torch_device import in_pieces, opened_model


class Pictures:
    """A vision model of transformers in a folder."""

    def __init__(self, folder: Path) -> None:
        self._prepare, self._model = opened_model(
            folder, "AutoImageProcessor", extra="images", what="images"
        )
        self.batch = 256 if self._model.device.type == "cuda" else 16

    def embed(self, items: Sequence[Any]) -> Vectors:
        """Return the embeddings of images of Pillow."""
        array = in_pieces(self._encode, items, self.batch)
        return Vectors(unit(array), np.ones(len(items), dtype=np.intp))

    def _encode(self, images: list[Any]) -> Any:
        import torch

        pixels = self._prepare(images=images, return_tensors="pt")["pixel_values"]
        pixels = pixels.to(self._model.device, self._model.dtype)
        with torch.inference_mode():
            if hasattr(self._model, "get_image_features"):  # of texts and images
                found = self._model.get_image_features(pixel_values=pixels)
            else:
                found = self._model(pixel_values=pixels)
        return _one_each(found).float().cpu().numpy()


def _one_each(found: Any) -> Any:
    """Return one vector per image of what a model returned."""
    if hasattr(found, "shape"):
        return found
    pooled = getattr(found, "pooler_output", None)
    if pooled is not None:
        return pooled.flatten(1)
    return found.last_hidden_state[:, 0]
