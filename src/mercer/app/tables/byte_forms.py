"""What bytes in the cells of a table are, by how they start."""

from codecs import getincrementaldecoder

BYTES = "bytes"  # how `said_of` begins
_LOOKED_AT = 1000  # bytes that are texts, if they are
# Where a mark stands, the mark, and what the bytes are then.
_IMAGES = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    *((0, b"P%d\n" % k, "image/x-portable-anymap") for k in range(1, 7)),
)
_SOUNDS = (
    (8, b"WAVE", "audio/wav"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (8, b"AIFF", "audio/aiff"),
    (8, b"AIFC", "audio/aiff"),
    (0, b".snd", "audio/basic"),
    (0, b"ID3", "audio/mpeg"),
    # Frames of MP3 without a tag.
    *((0, bytes([255, k]), "audio/mpeg") for k in (0xFB, 0xFA, 0xF3, 0xF2, 0xE3, 0xE2)),
)
# Neither can be read here, but a person should know what it is.
_OTHERS = (
    (0, b"%PDF", "application/pdf"),
    (0, b"PK\3\4", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
    (4, b"ftyphei", "image/heic"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"<svg", "image/svg+xml"),
)


def form_of(content: bytes) -> str:
    """Return the media type of bytes, or "" where the start does not tell.

    Examples
    --------
    >>> form_of(b"%PDF-1.7"), form_of(b"a text"), form_of(bytes(9))
    ('application/pdf', 'text/plain', '')
    """
    for at, mark, form in (*_IMAGES, *_SOUNDS, *_OTHERS):
        if content.startswith(mark, at):
            return form
    if content[:2] == b"BM" and content[6:10] == bytes(4):
        return "image/bmp"
    try:
        start = getincrementaldecoder("utf-8")().decode(content[:_LOOKED_AT])
    except UnicodeDecodeError:
        return ""
    return "text/plain" if "".join(start.split()).isprintable() else ""


def is_image(content: bytes) -> bool:
    """Tell whether bytes are those of an image that can be read.

    Examples
    --------
    >>> is_image(b"GIF89a"), is_image(b"%PDF-1.7"), is_image(b"RIFF    WAVE")
    (True, False, False)
    """
    return form_of(content) in {"image/bmp", *(form for _, _, form in _IMAGES)}


def is_sound(content: bytes) -> bool:
    """Tell whether bytes are those of a recording that can be read.

    Examples
    --------
    >>> is_sound(b"RIFF    WAVE"), is_sound(b"RIFF    WEBP")
    (True, False)
    """
    return form_of(content) in {form for _, _, form in _SOUNDS}


def said_of(content: bytes) -> str:
    """Return what bytes are, in words.

    Examples
    --------
    >>> said_of(b"%PDF-1.7"), said_of(bytes(9))
    ('bytes of the form application/pdf', 'bytes of a form that is not known')
    """
    form = form_of(content)
    return f"{BYTES} of {f'the form {form}' if form else 'a form that is not known'}"
