"""The forms that people have: bytes, records, brackets, scripts without spaces."""

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import mercer
from mercer.app.embedding.columns import embed_columns
from mercer.app.embedding.file_cells import holds_images, holds_sounds
from mercer.app.embedding.wanted import read_embed
from mercer.app.tables.byte_forms import form_of, is_image, is_sound
from mercer.app.tables.columns import is_text, ngrams_of
from mercer.app.tables.encoding import TableEncoder
from mercer.app.tables.reading import read_table
from mercer.app.tables.rows import Rows
from mercer.app.tables.table import TableError, as_table
from mercer.app.tables.task import Task
from mercer.app.tables.written_vectors import read_vectors

COLOURS = {"red": (220, 20, 20), "blue": (20, 20, 220)}


def png(colour, k):
    stream = io.BytesIO()
    red, green, blue = COLOURS[colour]
    Image.new("RGB", (12, 12), (red, green + k, blue)).save(stream, "png")
    return stream.getvalue()


def mean_colour(images):
    return np.array([np.asarray(image).mean(axis=(0, 1)) + 1 for image in images])


def photos(n=24):
    kinds = ["red", "blue"] * (n // 2)
    cells = [png(kind, k) for k, kind in enumerate(kinds)]
    labels = [kind if k < 6 else None for k, kind in enumerate(kinds)]
    return cells, labels, kinds


@pytest.mark.parametrize("form", ["bytes", "records"])
def test_images_in_parquet_are_embedded(tmp_path, form):
    """Records of bytes and path are how Hugging Face keeps images."""
    cells, labels, kinds = photos()
    if form == "records":
        cells = [{"bytes": cell, "path": None} for cell in cells]
    frame = pd.DataFrame({"photo": cells, "n": np.arange(24) % 5, "label": labels})
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert list(table.images) == ["photo"]
    rows = Rows.read(table, Task())
    assert "Compare them by --embed 'photo'" in " ".join(rows.screened.notes)
    result = mercer.learn(table, embed={"photo": mean_colour})
    assert result.predictions["prediction"].tolist() == kinds
    assert not [w for w in result.warnings if "left out" in w]
    assert [n.kind for n in result.session.rows.notes if "photo" in n.column] == [
        "vectors"
    ]


def test_rows_of_a_table_take_their_images_along():
    cells, _, _ = photos(6)
    table = as_table({"n": np.arange(6)})
    table = as_table(pd.DataFrame({"photo": cells, "n": range(6)}))
    assert table.take(np.array([4, 1])).images["photo"].tolist() == [cells[4], cells[1]]
    assert table.without({"photo"}).images == {}


def test_numbers_in_brackets_are_vectors(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) + 4 * (np.arange(30) % 2)[:, None]
    labels = ["ab"[k % 2] if k < 6 else None for k in range(30)]
    cells = [str(row.tolist()) for row in X]
    frame = pd.DataFrame({"v": cells, "label": labels})
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = mercer.learn(tmp_path / "t.csv")
    assert result.predictions["prediction"].tolist() == list("ab" * 15)
    assert any("3 numbers per cell, read as vectors" in w for w in result.warnings)
    assert result.model.predict(frame).tolist() == list("ab" * 15)


def test_a_row_with_too_few_numbers_is_named():
    table = as_table({"v": ["[1, 2]", "[3, 4]", "[5]"]})
    with pytest.raises(TableError, match=r"row 3 has '\[5\]'"):
        read_vectors(table)


NUMBERS = "0.5 -1 2 3e-4 5 6 7"  # seven of them


@pytest.mark.parametrize("between", [" ", ", ", ";", ",", "\n"])
def test_eight_numbers_are_a_vector_without_brackets(between):
    cells = [f"{NUMBERS} 8".replace(" ", between)] * 2
    (block,) = read_vectors(as_table({"v": cells})).vectors.values()
    np.testing.assert_allclose(block, [[0.5, -1, 2, 3e-4, 5, 6, 7, 8]] * 2)


@pytest.mark.parametrize(
    "cells",
    [
        *(["[1]", "[2]"], ["[a, b]", "[c, d]"], ["[1, 2]", "x", "y"], ["1, 2", "3"]),
        [NUMBERS] * 9,
        [f"{NUMBERS} 8"] * 9 + ["none of these"],
    ],
)
def test_other_brackets_stay_texts(cells):
    assert read_vectors(as_table({"v": cells})).vectors == {}


@pytest.mark.parametrize(
    "cell",
    [
        "[np.float64(0.5), np.float32(-1e-2)]",  # str of a list of NumPy's numbers
        "{0.5,-0.01}",  # an array of PostgreSQL
        "[ 0.5 -0.01]",
    ],
)
def test_vectors_as_programs_write_them(cell):
    (block,) = read_vectors(as_table({"v": [cell] * 2})).vectors.values()
    np.testing.assert_allclose(block, [[0.5, -0.01]] * 2)


def test_one_odd_path_does_not_turn_images_into_words(tmp_path):
    """The column was embedded as texts, the paths, without a word."""
    cells, labels, kinds = photos()
    for k, cell in enumerate(cells):
        (tmp_path / f"{k}.png").write_bytes(cell)
    paths = [f"{k}.png" for k in range(len(cells))]
    paths[-1] = "not taken"
    frame = pd.DataFrame({"photo": paths, "label": labels})
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = mercer.learn(tmp_path / "t.csv", embed={"photo": mean_colour})
    said = found.predictions["prediction"].tolist()
    assert said[:-1] == kinds[:-1]
    assert any("not taken" in note for note in found.warnings)


@pytest.mark.parametrize(("n_odd", "is_image"), [(0, True), (2, True), (3, False)])
def test_a_tenth_of_the_cells_may_be_broken(n_odd, is_image):
    cells = ["a.png"] * (20 - n_odd) + ["words"] * n_odd + [None] * 9
    assert holds_images(cells) == is_image
    sounds = ["a.wav" if cell == "a.png" else cell for cell in cells]
    assert holds_sounds(sounds) == is_image


CHINESE = [
    "苹果和香蕉很好吃",
    "我们都喜欢吃苹果",
    "股票市场今天下跌",
    "银行的股票上涨了",
]


def test_chinese_is_compared_by_characters():
    encoder = TableEncoder()
    points = encoder.fit_transform(as_table({"text": CHINESE})).toarray()
    assert "single characters, pairs and triples" in encoder.notes_[0].done
    near = points @ points.T
    assert near[0, 1] > near[0, 2]
    assert near[2, 3] > near[1, 3]


def test_chinese_beside_other_columns_is_a_text():
    column = pd.Series(CHINESE)
    assert is_text(column, 4)  # eight characters are about four words
    assert not is_text(column.str[:6], 4)
    encoder = TableEncoder()
    cells = [text + end for text in CHINESE for end in "一二三"]
    encoder.fit(as_table({"text": cells, "n": np.arange(12.0)}))
    assert encoder.texts_ == ["text"]


@pytest.mark.parametrize(
    ("text", "analyzer"),
    [
        ("这是中文ab", "char"),
        ("中文abc", "word"),
        ("ภาษาไทย", "char"),
        ("한국어 글", "word"),
    ],
)
def test_half_of_the_letters_decide(text, analyzer):
    assert ngrams_of(pd.Series([text] * 3))["analyzer"] == analyzer


def hints_of(table, embed=None):
    encoder = TableEncoder()
    encoder.fit_transform(as_table(table), read_embed(embed))
    return " ".join(encoder.messages_)


def test_a_column_of_texts_says_what_would_compare_its_meaning():
    table = {"text": [f"a text with word{k % 3} and{k} in it" for k in range(9)]}
    assert "pass --embed 'text'" in hints_of(table)
    lengths = {"text": lambda texts: np.array([[len(t), 1.0] for t in texts])}
    assert hints_of(table, lengths) == ""
    assert hints_of({"n": np.arange(9.0)}) == ""
    # The small model, which is meant without a name, knows English alone.
    said = hints_of({"text": [f"打印机没有纸了{k}次" for k in range(9)]})
    assert "by its characters" in said
    assert "--embed 'text=MODEL' with a model of its language" in said


def test_paths_of_images_are_not_taken_for_words_in_silence():
    table = {"photo": [f"{k}.png" for k in range(9)], "n": np.arange(9.0)}
    assert "only their names are compared" in hints_of(table)


def test_a_folder_of_images_says_what_a_model_would_do(tmp_path):
    for k, colour in enumerate(["red", "blue"] * 2):
        Image.new("RGB", (9, 9), colour).save(tmp_path / f"{k}.png")
    table = read_table(tmp_path).without({"file", "label"})
    assert "pixel by pixel" in hints_of(table)
    assert "pixel by pixel" not in hints_of(table, {"image": mean_colour})


def test_vectors_beside_texts_say_what_new_rows_need():
    texts = [f"a text with word{k % 3} and{k} in it" for k in range(9)]
    said = hints_of({"text": texts, "v": np.ones((9, 2)) * np.arange(9)[:, None]})
    assert "Column 'v' holds vectors, which new rows must bring as well" in said
    assert "pass --embed 'text': the model then needs the texts alone" in said
    assert "holds vectors" not in hints_of({"v": np.eye(9)})


def test_paths_of_images_are_not_called_texts():
    assert "compared by its words" not in hints_of({"p": ["a.png", "b.png", "c.png"]})


def vectors_and_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) + 4 * (np.arange(30) % 2)[:, None]
    labels = ["ab"[k % 2] if k < 6 else None for k in range(30)]
    return X, pd.DataFrame({"n": np.zeros(30), "label": labels})


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_array_beside_a_table_is_read(tmp_path, ending):
    X, frame = vectors_and_labels()
    np.save(tmp_path / "t.npy", X)
    if ending == "csv":
        frame.to_csv(tmp_path / "t.csv", index=False)
    else:
        frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / f"t.{ending}")
    np.testing.assert_array_equal(table.vectors["vectors"], X)
    assert table.notes[-1] == "t.npy beside the table is its column 'vectors'."
    result = mercer.learn(table)
    assert result.predictions["prediction"].tolist() == list("ab" * 15)


def test_an_array_of_other_length_is_left_out_and_said(tmp_path):
    X, frame = vectors_and_labels()
    np.save(tmp_path / "t.npy", X[:29])
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv")
    assert table.vectors == {}
    assert "left out: t.npy has 29 rows, and the table 30" in table.notes[-1]


def test_a_column_of_the_name_is_not_replaced(tmp_path):
    X, frame = vectors_and_labels()
    np.save(tmp_path / "t.npy", X)
    frame.rename(columns={"n": "vectors"}).to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv")
    assert table.vectors == {}
    assert "has a column 'vectors' of its own" in table.notes[-1]


def test_an_array_alone_is_a_table(tmp_path):
    X, _ = vectors_and_labels()
    np.save(tmp_path / "t.npy", X)
    np.testing.assert_array_equal(read_table(tmp_path / "t.npy").vectors["vectors"], X)


@pytest.mark.parametrize("array", [np.array(3.0), np.array([{}], dtype=object)])
def test_an_array_without_rows_is_refused(tmp_path, array):
    np.save(tmp_path / "t.npy", array, allow_pickle=True)
    with pytest.raises(
        TableError, match=r"t\.npy (holds no array|cannot be read as NPY)"
    ):
        read_table(tmp_path / "t.npy")


def write_files(folder, images, texts):
    for k in range(images):
        Image.new("RGB", (9, 9), (k, 0, 0)).save(folder / f"{k}.png")
    for k in range(texts):
        (folder / f"{k}.txt").write_text("some words")


@pytest.mark.parametrize(
    ("images", "texts", "kind"),
    [(2, 1, "image"), (1, 2, "text"), (20, 2, "image"), (0, 2, "text")],
)
def test_a_few_files_of_another_kind_are_left_out_and_named(
    tmp_path, images, texts, kind
):
    write_files(tmp_path, images, texts)
    table = read_table(tmp_path)
    assert kind in table.columns
    assert len(table) == max(images, texts)
    if min(images, texts):
        assert "as most files are of another kind: 0." in table.notes[0]


@pytest.mark.parametrize(("images", "texts"), [(1, 1), (19, 2), (2, 19)])
def test_a_folder_of_two_kinds_is_refused(tmp_path, images, texts):
    write_files(tmp_path, images, texts)
    with pytest.raises(TableError, match="must hold one kind only"):
        read_table(tmp_path)


@pytest.mark.parametrize("form", ["bytes", "records"])
def test_images_may_be_all_that_a_table_has(tmp_path, form):
    cells, labels, kinds = photos()
    if form == "records":
        cells = [{"bytes": cell, "path": None} for cell in cells]
    frame = pd.DataFrame({"photo": cells, "label": labels})
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"nothing to learn.*by --embed 'photo'"):
        mercer.learn(table)
    result = mercer.learn(table, embed={"photo": mean_colour})
    assert result.predictions["prediction"].tolist() == kinds
    new = read_table(tmp_path / "t.parquet").take(np.arange(2))
    assert result.model.predict(new).tolist() == kinds[:2]


@pytest.mark.parametrize(("ending", "extra"), [("png", "images"), ("wav", "sound")])
def test_paths_that_name_the_rows_are_not_left_out_in_silence(ending, extra):
    frame = pd.DataFrame(
        {
            "file": [f"{k}.{ending}" for k in range(20)],
            "path": [f"{k}.{ending}" for k in range(20)],
            "n": np.arange(20) % 3,
            "label": ["a", "b"] * 4 + [None] * 12,
        }
    )
    said = " ".join(Rows.read(frame, Task()).screened.notes)
    assert "Column 'path' was left out: it names the rows" in said
    assert f"mercer[{extra}]" in said
    assert "--keep 'path'" not in said


def test_numbers_are_not_embedded(tmp_path):
    table = as_table({"n": [str(k) for k in range(9)], "m": np.arange(9.0)})
    with pytest.raises(TableError, match="'n' holds numbers, which are compared as"):
        TableEncoder().fit_transform(table, read_embed("n"))


def test_the_small_model_is_said_to_know_english():
    pytest.importorskip("wordllama")
    english = [f"the printer is out of paper {k}" for k in range(9)]
    chinese = [f"打印机没有纸了{k}" for k in range(9)]
    assert "a model of English" in hints_of({"text": chinese}, "text")
    assert hints_of({"text": english}, "text") == ""


def test_a_path_that_no_file_can_have_is_named():
    table = as_table({"photo": np.array([*["a.png"] * 9, "a\0b.png"], object)}, "t.csv")
    with pytest.raises(TableError, match=r"t.csv: 'a\\x00b.png' is not a path"):
        embed_columns(table, read_embed({"photo": mean_colour}))


@pytest.mark.parametrize(
    ("ending", "form"),
    [
        ("png", "image/png"),
        ("jpeg", "image/jpeg"),
        ("gif", "image/gif"),
        ("bmp", "image/bmp"),
        ("webp", "image/webp"),
        ("tiff", "image/tiff"),
        ("ppm", "image/x-portable-anymap"),
    ],
)
def test_images_are_known_by_how_they_start(ending, form):
    """WebP begins as WAV does, and was taken for a recording."""
    stream = io.BytesIO()
    Image.new("RGB", (9, 7), (200, 10, 10)).save(stream, ending)
    content = stream.getvalue()
    assert form_of(content) == form
    assert is_image(content)
    assert not is_sound(content)
    assert holds_images([content, {"bytes": content, "path": None}])
    assert not holds_sounds([content])


@pytest.mark.parametrize(
    ("ending", "form"),
    [
        ("WAV", "audio/wav"),
        ("FLAC", "audio/flac"),
        ("OGG", "audio/ogg"),
        ("MP3", "audio/mpeg"),
        ("AIFF", "audio/aiff"),
        ("AU", "audio/basic"),
    ],
)
def test_recordings_are_known_by_how_they_start(ending, form):
    soundfile = pytest.importorskip("soundfile")
    stream = io.BytesIO()
    wave = 0.1 * np.sin(np.arange(8000))
    soundfile.write(stream, wave, 8000, format=ending)
    content = stream.getvalue()
    assert form_of(content) == form
    assert is_sound(content)
    assert holds_sounds([content])
    assert not holds_images([content])


OTHERS = {
    "application/pdf": b"%PDF-1.7 ...",
    "application/zip": b"PK\3\4....",
    "image/heic": b"\0\0\0 ftypheic",
    "video/mp4": b"\0\0\0 ftypisom",
    "text/plain": "BMW, écrit en UTF-8\n".encode(),
    "": bytes(range(256)),
}


@pytest.mark.parametrize("form", OTHERS)
def test_other_bytes_are_no_images_and_it_is_said_what_they_are(tmp_path, form):
    """Any bytes were images, each of which could not be read."""
    content = OTHERS[form]
    assert form_of(content) == form
    assert not is_image(content)
    frame = pd.DataFrame(
        {"scan": [content] * 6, "n": range(6), "label": list("ab") * 3}
    )
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    said = f"the form {form}" if form else "a form that is not known"
    assert table.images == {}
    assert f"it holds bytes of {said}" in table.unread_notes[0]
    assert "recordings can be compared, and texts as strings" in table.unread_notes[0]
    with pytest.raises(
        TableError, match=f"'scan' holds bytes of {said}; --embed needs"
    ):
        mercer.learn(table, embed={"scan": mean_colour})


def test_a_broken_image_among_others_is_named_with_what_it_is():
    cells, _, _ = photos(6)
    table = as_table(pd.DataFrame({"photo": [*cells, b"%PDF-1.7"], "n": range(7)}))
    made = embed_columns(table, read_embed({"photo": mean_colour}))
    said = "row 7: bytes of the form application/pdf, which cannot be read as an image"
    assert said in made.messages[0]
