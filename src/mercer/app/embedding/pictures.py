"""Images by a vision model, through transformers: DINOv2, CLIP and others."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.extras import require
from mercer._base.words import reason
from mercer.app.embedding.embedder import Vectors, unit
from mercer.app.embedding.torch_device import best_device, in_pieces, without_bars
from mercer.app.tables.table import TableError


class Pictures:
    """A vision model of transformers in a folder.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        require("torch", extra="images", purpose="This model of images")
        library = require(
            "transformers", extra="images", purpose="This model of images"
        )
        safe = {"local_files_only": True, "trust_remote_code": False}
        try:
            self._prepare = library.AutoImageProcessor.from_pretrained(
                str(folder), **safe
            )
            with without_bars():
                model = library.AutoModel.from_pretrained(
                    str(folder), use_safetensors=True, **safe
                )
        except (OSError, ValueError, KeyError) as error:
            msg = f"{folder} cannot be read as a model of images: {reason(error)}."
            raise TableError(msg) from error
        self._device = best_device()
        self.batch = 256 if self._device == "cuda" else 16
        self._model = model.eval().to(self._device)
        if self._device == "cuda":
            self._model = self._model.half()

    def embed(self, items: Sequence[Any]) -> Vectors:
        """Return the embeddings of images of Pillow."""
        array = in_pieces(self._encode, items, self.batch)
        return Vectors(unit(array), np.ones(len(items), dtype=np.intp))

    def _encode(self, images: list[Any]) -> Any:
        import torch

        pixels = self._prepare(images=images, return_tensors="pt")["pixel_values"]
        pixels = pixels.to(self._device, self._model.dtype)
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
