"""Transformers of texts and of images, small ones that the tests write."""

import numpy as np
import pytest

from embedding_models import image_model, sentence_model
from mercer.app.embedding.models import find_model, load
from mercer.app.embedding.torch_device import in_pieces

pytest.importorskip("sentence_transformers")
pytestmark = pytest.mark.filterwarnings("ignore")  # of packages that change often


@pytest.fixture(scope="module")
def sentences(tmp_path_factory):
    folder = sentence_model(tmp_path_factory.mktemp("models") / "tiny", window=8)
    return load(find_model(str(folder), "text"))


def test_texts_have_vectors_of_length_one(sentences):
    array, pieces = sentences.embed(["the cat", "gold shines", "the cat"])
    assert array.shape == (3, 16)
    np.testing.assert_allclose(np.linalg.norm(array, axis=1), 1.0, atol=1e-5)
    np.testing.assert_array_equal(array[0], array[2])
    assert pieces.tolist() == [1, 1, 1]


def test_a_long_text_is_split_and_its_pieces_averaged(sentences):
    """A window of 8 has room for 6 words and two marks."""
    six, rest = "the cat runs the dog runs", "gold shines a stone"
    whole, pieces = sentences.embed([f"{six} {rest}", six])
    assert pieces.tolist() == [2, 1]
    first, second = sentences.embed([six, rest]).array
    mean = (first + second) / np.linalg.norm(first + second)
    np.testing.assert_allclose(whole[0], mean, atol=1e-5)


def test_images_have_vectors_that_tell_them_apart(tmp_path):
    from PIL import Image

    model = load(find_model(str(image_model(tmp_path / "tiny")), "image"))
    images = [
        Image.new("RGB", (40, 30), "red"),
        Image.new("RGB", (64, 64), "red"),
        Image.new("RGB", (40, 40), "blue"),
    ]
    array = model.embed(images).array
    assert array.shape == (3, 16)
    assert array[0] @ array[1] > array[0] @ array[2]


def test_a_batch_that_is_too_large_is_halved():
    import torch

    sizes = []

    def encode(items):
        if len(items) > 2:
            raise torch.cuda.OutOfMemoryError
        sizes.append(len(items))
        return np.array([[float(item)] for item in items])

    assert in_pieces(encode, range(5), 8).ravel().tolist() == [0, 1, 2, 3, 4]
    assert sizes == [2, 2, 1]


def test_one_item_that_is_too_large_is_an_error():
    import torch

    def encode(items):
        raise torch.cuda.OutOfMemoryError

    with pytest.raises(torch.cuda.OutOfMemoryError):
        in_pieces(encode, range(3), 4)


def test_weights_are_read_without_bars(tmp_path, capfd):
    from transformers.utils import logging

    folder = sentence_model(tmp_path / "quiet")
    logging.enable_progress_bar()
    capfd.readouterr()
    load(find_model(str(folder), "text"))
    assert "Loading weights" not in capfd.readouterr().err
    assert logging.is_progress_bar_enabled()
