"""Columns of texts and images become vectors, and new rows get the same."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from embedding_models import static_model
from mercer.app.embedding.columns import embed_again, embed_columns
from mercer.app.embedding.wanted import read_embed
from mercer.app.tables.encoding import TableEncoder
from mercer.app.tables.folders import read_folder
from mercer.app.tables.reading import read_table
from mercer.app.tables.table import TableError, as_table
from mercer.persist import load, save

TEXTS = ["the cat runs", "a dog runs", "the stone shines", "gold shines", "horse", ""]


def lengths(items):
    """An embedding by hand: the length, and a constant."""
    return np.array([[len(item), 10.0] for item in items])


def sizes(images):
    return np.array([[image.size[0], image.size[1], 1.0] for image in images])


def embedded(table, embed):
    return embed_columns(as_table(table), read_embed(embed))


def model_by(tmp_path):
    return str(static_model(tmp_path / "model"))


def test_words_stay_beside_the_vectors():
    made = embedded({"text": TEXTS}, {"text": lengths})
    assert made.table.columns == ["text", "text (embedded)"]
    array = made.table.vectors["text (embedded)"]
    wanted = lengths(TEXTS[:5]) / np.linalg.norm(lengths(TEXTS[:5]), axis=1)[:, None]
    np.testing.assert_allclose(array[:5], wanted, atol=1e-6)


def test_an_empty_cell_has_the_mean_of_the_others():
    made = embedded({"text": [*TEXTS, None]}, {"text": lengths})
    array = made.table.vectors["text (embedded)"]
    np.testing.assert_allclose(array[[5, 6]], [array[:5].mean(axis=0)] * 2, atol=1e-6)
    assert "2 empty cells set to the mean" in made.embeddings[0].done


def test_equal_texts_are_given_to_a_function_once():
    asked = []

    def count(items):
        asked.extend(items)
        return lengths(items)

    embedded({"text": ["a b", "c", "a b"]}, {"text": count})
    assert asked == ["a b", "c"]


def test_a_transformer_is_fitted_once_and_not_changed(tmp_path):
    given = make_pipeline(TfidfVectorizer(), TruncatedSVD(2, random_state=0))
    made = embedded({"text": TEXTS[:5]}, {"text": given})
    again = embed_again(as_table({"text": TEXTS[:5][::-1]}), made.embeddings)
    np.testing.assert_allclose(
        again.vectors["text (embedded)"],
        made.table.vectors["text (embedded)"][::-1],
        atol=1e-5,
    )
    assert not hasattr(given[0], "vocabulary_")


def test_encoders_of_skrub_embed():
    skrub = pytest.importorskip("skrub")
    given = skrub.StringEncoder(n_components=3, random_state=0)
    made = embedded({"text": TEXTS[:5]}, {"text": given})
    assert made.table.vectors["text (embedded)"].shape == (5, 3)


def test_what_has_a_method_encode_embeds():
    class Model:
        def encode(self, items):
            return lengths(items)

    made = embedded({"text": TEXTS}, {"text": Model()})
    assert made.table.vectors["text (embedded)"].shape == (6, 2)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (
            lambda items: np.zeros(len(items)),
            "one row for each of 2 items",
        ),
        (lambda items: np.zeros((1, 3)), r"shape \(1, 3\)"),
        (lambda items: [["a"]] * len(items), "array of numbers"),
        (lambda items: np.full((len(items), 2), np.nan), "NaN or infinity"),
    ],
)
def test_a_function_must_return_one_row_of_numbers_each(function, words):
    with pytest.raises(TableError, match=words):
        embedded({"text": ["a", "b"]}, {"text": function})


def test_very_wide_sparse_vectors_are_refused():
    with pytest.raises(TableError, match="TruncatedSVD"):
        embedded({"text": [f"w{k}" for k in range(5001)]}, {"text": TfidfVectorizer()})


@pytest.mark.parametrize(
    ("embed", "words"),
    [
        ("=x", "takes COLUMN or COLUMN=MODEL"),
        ({"text": 3}, "a function from a list"),
        (3, "takes COLUMN or COLUMN=MODEL"),
        (["text", "text=x"], "twice"),
        ("nothing", "has no column 'nothing'"),
        ("size", "neither texts, images nor recordings"),
        ("v", "holds vectors already"),
    ],
)
def test_bad_words_are_refused(embed, words):
    table = {"text": TEXTS, "size": np.arange(6), "v": np.zeros((6, 2))}
    with pytest.raises(TableError, match=words):
        embedded(table, embed)


def test_a_column_without_anything_is_refused():
    with pytest.raises(TableError, match="every cell is empty"):
        embedded({"text": ["", " ", None]}, {"text": lengths})


def test_an_encoder_embeds_new_rows_alike(tmp_path):
    table = as_table({"text": TEXTS * 3, "size": np.arange(18.0)})
    encoder = TableEncoder()
    points = encoder.fit_transform(table, read_embed(f"text={model_by(tmp_path)}"))
    np.testing.assert_allclose(encoder.transform(table), points, atol=1e-5)
    assert [n.column for n in encoder.notes_] == ["text", "size", "text (embedded)"]
    assert encoder.notes_[2].done == (
        "8 numbers by model, compared by angle; 3 empty cells set to the mean"
    )


def test_a_saved_encoder_holds_no_weights_and_finds_the_model_again(tmp_path):
    table = as_table({"text": TEXTS})
    model, file = model_by(tmp_path), tmp_path / "encoder.skops"
    encoder = TableEncoder()
    points = encoder.fit_transform(table, read_embed({"text": model}))
    save(encoder, file)
    from safetensors.numpy import load_file

    weights = load_file(f"{model}/model.safetensors")["embeddings"].tobytes()
    assert weights[:64] not in file.read_bytes()
    again = load(file)
    np.testing.assert_allclose(again.transform(table), points, atol=1e-5)


def test_a_model_that_changed_is_refused(tmp_path):
    table = as_table({"text": TEXTS})
    encoder = TableEncoder()
    encoder.fit(table)  # nothing is embedded unasked
    assert encoder.embeddings_ == ()
    encoder.fit_transform(table, read_embed({"text": model_by(tmp_path)}))
    (saved,) = encoder.embeddings_
    other = static_model(tmp_path / "other", seed=3)
    moved = [type(saved)(**{**vars(saved), "model": str(other)})]
    with pytest.raises(TableError, match=r"is not the one that column 'text' was"):
        embed_again(table, moved)


def test_a_model_that_is_gone_says_what_to_do(tmp_path):
    table = as_table({"text": TEXTS})
    made = embedded(table, {"text": model_by(tmp_path)})
    (tmp_path / "model").rename(tmp_path / "away")
    with pytest.raises(TableError, match=r"is not on this machine"):
        embed_again(table, made.embeddings)


def write_images(folder, n=4):
    folder.mkdir(parents=True, exist_ok=True)
    for k in range(n):
        Image.new("RGB", (10 + k, 20), (60 * k, 0, 0)).save(folder / f"{k}.png")


def test_paths_are_relative_to_the_table(tmp_path):
    write_images(tmp_path / "photos")
    frame = pd.DataFrame(
        {"photo": [f"photos/{k}.png" for k in range(4)], "n": range(4)}
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    made = embedded(read_table(tmp_path / "t.csv"), {"photo": sizes})
    assert made.table.columns == ["n", "photo (embedded)"]
    array = made.table.vectors["photo (embedded)"]
    np.testing.assert_allclose(array[:, 0] / array[:, 2], [10, 11, 12, 13], rtol=1e-5)


@pytest.mark.parametrize("path", ["../secret.png", "/etc/secret.png"])
def test_no_path_leads_out_of_the_folder_of_the_table(tmp_path, path):
    (tmp_path / "in").mkdir()
    Image.new("L", (4, 4)).save(tmp_path / "secret.png")
    (tmp_path / "in" / "t.csv").write_text(f"photo,n\n{path},1\n{path},2\n")
    table = read_table(tmp_path / "in" / "t.csv")
    with pytest.raises(TableError, match="lies outside of the folder of the table"):
        embedded(table, {"photo": sizes})


def test_nor_does_a_link(tmp_path):
    (tmp_path / "in").mkdir()
    Image.new("L", (4, 4)).save(tmp_path / "secret.png")
    (tmp_path / "in" / "a.png").symlink_to(tmp_path / "secret.png")
    (tmp_path / "in" / "t.csv").write_text("photo,n\na.png,1\na.png,2\n")
    with pytest.raises(TableError, match="lies outside"):
        embedded(read_table(tmp_path / "in" / "t.csv"), {"photo": sizes})


def test_addresses_are_not_fetched():
    table = {"photo": ["https://example.org/a.png"] * 2}
    with pytest.raises(TableError, match="Mercer fetches nothing"):
        embedded(table, {"photo": sizes})


def test_broken_images_are_named_and_have_the_mean(tmp_path):
    write_images(tmp_path)
    (tmp_path / "1.png").write_bytes(b"no image")
    (tmp_path / "2.png").unlink()
    (tmp_path / "t.csv").write_text("photo,n\n0.png,1\n1.png,2\n2.png,3\n3.png,4\n")
    made = embedded(read_table(tmp_path / "t.csv"), {"photo": sizes})
    (message,) = made.messages
    assert "2 images left out" in message
    assert "row 2: " in message
    assert "row 3: 2.png: No such file" in message
    array = made.table.vectors["photo (embedded)"]
    np.testing.assert_allclose(array[1], array[[0, 3]].mean(axis=0), atol=1e-6)


def test_bytes_and_turned_photographs_are_images(tmp_path):
    image = Image.new("RGB", (30, 10))
    exif = image.getexif()
    exif[0x0112] = 6  # held on its side
    image.save(tmp_path / "a.jpg", exif=exif)
    made = embedded(
        {"photo": [(tmp_path / "a.jpg").read_bytes()] * 2}, {"photo": sizes}
    )
    array = made.table.vectors["photo (embedded)"]
    assert array[0, 0] / array[0, 2] == pytest.approx(10, rel=1e-3)


def test_a_folder_of_images_is_embedded_from_its_files(tmp_path):
    """Not from the thumbnails: the model sees images as they are."""
    write_images(tmp_path / "red")
    made = embedded(read_folder(tmp_path), {"image": sizes})
    assert made.table.columns == ["file", "label", "image (embedded)"]
    array = made.table.vectors["image (embedded)"]
    np.testing.assert_allclose(array[:, 0] / array[:, 2], [10, 11, 12, 13], rtol=1e-5)


def test_arrays_of_pixels_are_images():
    pixels = np.zeros((3, 9, 12))
    made = embedded({"digit": pixels}, {"digit": sizes})
    array = made.table.vectors["digit (embedded)"]
    np.testing.assert_allclose(array[:, 0] / array[:, 1], 12 / 9, rtol=1e-5)


def test_a_broken_file_of_a_folder_is_named_and_left_out(tmp_path):
    write_images(tmp_path / "red", 3)
    (tmp_path / "red" / "1.png").write_bytes(b"no image")
    labels = "file,label\nred/0.png,x\nred/1.png,y\n"
    (tmp_path / "labels.csv").write_text(labels)
    table = read_table(tmp_path)
    assert table.frame["file"].tolist() == ["red/0.png", "red/2.png"]
    assert table.images["image"].tolist() == ["red/0.png", "red/2.png"]
    assert "1 file could not be read and was left out: red/1.png" in table.notes[0]


def test_several_columns_are_one_stage():
    """Each was one, and the time left became negative."""
    stages = []

    class Listener:
        stage, advance, note = stages.append, stages.count, stages.count

    encoder, embed = TableEncoder(), {"text": lengths, "more": lengths}
    frame = as_table({"text": TEXTS, "more": TEXTS[::-1]})
    encoder.fit_transform(frame, read_embed(embed), progress=Listener())
    assert stages == ["embeddings"]


def test_a_text_that_is_not_utf_8_is_left_out_with_what_to_do(tmp_path):
    (tmp_path / "a.txt").write_text("a text")
    (tmp_path / "b.txt").write_bytes("café".encode("latin-1"))
    table = read_folder(tmp_path)
    assert len(table) == 1
    assert "b.txt (not UTF-8; save it as UTF-8)" in table.notes[0]
