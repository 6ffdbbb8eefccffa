"""Every format gives the same table."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from mercer.app.tables.folders import read_folder
from mercer.app.tables.learning import learn
from mercer.app.tables.reading import read_table
from mercer.app.tables.table import TableError, as_table
from tables_at_hand import two_groups


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet", "t.feather"])
def test_formats_agree(tmp_path: Path, name: str) -> None:
    frame = two_groups()
    writers = {
        ".csv": lambda p: frame.to_csv(p, index=False),
        ".tsv": lambda p: frame.to_csv(p, index=False, sep="\t"),
        ".parquet": frame.to_parquet,
        ".feather": frame.to_feather,
    }
    path = tmp_path / name
    writers[path.suffix](path)
    table = read_table(path, as_text=("code", "label"))
    assert table.columns == frame.columns.tolist()
    assert table.frame["code"].tolist() == frame["code"].tolist()
    np.testing.assert_array_equal(table.frame["size"], frame["size"])
    empty = table.frame["label"].isna() | (table.frame["label"] == "")
    assert empty.tolist() == frame["label"].isna().tolist()


def test_a_frame_of_polars_is_a_table() -> None:
    polars = pytest.importorskip("polars")
    table = as_table(polars.DataFrame({"x": [1.0, 2.0], "v": [[1.0, 2.0], [3.0, 4.0]]}))
    assert table.columns == ["x", "v"]
    np.testing.assert_array_equal(table.vectors["v"], [[1, 2], [3, 4]])


@pytest.mark.parametrize("kind", ["list", "fixed"])
def test_a_column_of_vectors_is_kept_as_it_is(tmp_path: Path, kind: str) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    vectors = np.random.default_rng(0).standard_normal((6, 3)).astype(np.float32)
    type_ = pa.list_(pa.float32(), 3) if kind == "fixed" else pa.list_(pa.float32())
    column = pa.array(vectors.tolist(), type=type_)
    parquet.write_table(
        pa.table({"vector": column, "label": list("ababab")}), tmp_path / "t.pq"
    )
    table = read_table(tmp_path / "t.pq")
    assert table.columns == ["label", "vector"]
    np.testing.assert_array_equal(table.vectors["vector"], vectors)
    assert table.vectors["vector"].dtype == np.float32


def test_vectors_of_different_length_are_named() -> None:
    frame = pd.DataFrame({"v": [[1, 2], [1, 2], [1]]})
    with pytest.raises(TableError, match="row 3 has 1 numbers"):
        as_table(frame)


def test_npz_leaves_shorter_arrays_out(tmp_path: Path) -> None:
    names = np.array(["a", "b"])
    np.savez(tmp_path / "t.npz", X=np.ones((4, 2, 3)), y=[0, 1, -1, 1], names=names)
    table = read_table(tmp_path / "t.npz")
    assert table.columns == ["y", "X"]
    assert table.vectors["X"].shape == (4, 6)


def test_npz_with_pickled_objects_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", X=np.array([{}, {}], dtype=object))
    with pytest.raises(TableError, match=r"t\.npz cannot be read"):
        read_table(tmp_path / "t.npz")


def test_windows_files_read_alike(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("\ufeffa,label\r\n1,x\r\n".encode())
    assert read_table(tmp_path / "t.csv").columns == ["a", "label"]


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,a\n1,2\n")
    with pytest.raises(TableError, match="two columns named 'a'"):
        read_table(tmp_path / "t.csv")


def test_text_columns_keep_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,label,x\n007,NA,NA\n08,,1\n")
    frame = read_table(tmp_path / "t.csv", as_text=("id", "label")).frame
    assert frame["id"].tolist() == ["007", "08"]
    assert frame["label"].tolist() == ["NA", ""]
    assert np.isnan(frame["x"][0])


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Bright and dark images in folders, and some that lie outside."""
    rng = np.random.default_rng(0)
    for name, light in (("dark", 40), ("bright", 200)):
        (tmp_path / name).mkdir()
        for k in range(6):
            pixels = np.clip(light + 10 * rng.standard_normal((8, 8)), 0, 255)
            image = Image.fromarray(pixels.astype(np.uint8))
            where = (
                tmp_path / name / f"{k}.png" if k < 3 else tmp_path / f"{name}{k}.png"
            )
            image.save(where)
    return tmp_path


def test_folder_of_images_labelled_by_subfolder(images: Path) -> None:
    table = read_folder(images)
    assert table.image_shape == (8, 8, 1)
    assert table.vectors["image"].shape == (12, 64)
    assert 0 <= table.vectors["image"].min() <= table.vectors["image"].max() <= 1
    by_file = dict(zip(table.frame["file"], table.frame["label"], strict=True))
    assert by_file["dark/0.png"] == "dark"
    assert by_file["bright4.png"] is None or pd.isna(by_file["bright4.png"])
    said = learn(table).predictions.set_index("id")["prediction"]
    assert all(
        said[f"{name}{k}.png"] == name for name in ("dark", "bright") for k in (3, 4, 5)
    )


def test_folder_of_images_labelled_by_a_file(images: Path) -> None:
    (images / "labels.csv").write_text("file,kind\ndark3.png,night\nbright3.png,day\n")
    table = read_table(images)
    assert "label" not in table.columns
    by_file = dict(zip(table.frame["file"], table.frame["kind"], strict=True))
    assert by_file["dark3.png"] == "night"
    (images / "labels.csv").write_text("file,kind\nnowhere.png,night\n")
    with pytest.raises(TableError, match=r"names 'nowhere\.png'"):
        read_table(images)


def test_images_of_many_sizes_are_brought_to_one(tmp_path: Path) -> None:
    Image.new("RGB", (300, 200), "red").save(tmp_path / "a.jpg")
    Image.new("L", (10, 30), 255).save(tmp_path / "b.png")
    table = read_folder(tmp_path)
    assert table.image_shape == (32, 32, 3)
    again = read_folder(tmp_path, image_shape=(8, 8, 1))
    assert again.vectors["image"].shape == (2, 64)


def test_a_broken_image_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"no image")
    with pytest.raises(TableError, match=r"a\.png cannot be read as an image"):
        read_folder(tmp_path)


def test_folder_of_texts(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = {
        "sea": ["ship", "sail", "wave", "harbour", "tide", "gull", "mast"],
        "wood": ["tree", "leaf", "moss", "fern", "bark", "owl", "root"],
    }
    for name, known in words.items():
        (tmp_path / name).mkdir()
        for k in range(12):
            text = " ".join(rng.choice(known, 5))
            folder = tmp_path / name if k < 4 else tmp_path
            (folder / f"{name}{k}.txt").write_text(text)
    result = learn(tmp_path)
    said = result.predictions.set_index("id")["prediction"]
    assert all(said[f"{name}{k}.txt"] == name for name in words for k in range(4, 12))
    assert result.session.rows.notes[0].kind == "text"


def test_images_and_texts_in_one_folder(tmp_path: Path) -> None:
    Image.new("L", (4, 4)).save(tmp_path / "a.png")
    (tmp_path / "b.txt").write_text("words")
    with pytest.raises(TableError, match="1 image and 1 text;"):
        read_folder(tmp_path)


def test_names_of_images_are_not_numbers_with_a_unit(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("photo,n\n0.png,1\n1.png,2\n2.png,3\n")
    table = read_table(tmp_path / "t.csv")
    assert table.frame["photo"].tolist() == ["0.png", "1.png", "2.png"]
