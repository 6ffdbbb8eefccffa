"""Images by a vision model, through transformers: DINOv2, CLIP and others."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer.app.embedding.embedder import Vectors, unit
from mercer.app.embedding.torch_device import in_pieces, opened_model, outputs


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
        pixels = self._prepare(images=images, return_tensors="pt")["pixel_values"]
        given = {"pixel_values": pixels}
        found, pooled = outputs(self._model, given, "get_image_features")
        pooled = found[:, 0] if pooled is None else pooled.flatten(1)
        return pooled.float().cpu().numpy()
