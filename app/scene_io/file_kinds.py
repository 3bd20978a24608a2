"""What a file is by its first bytes, where that is not what its name says: the commonest reason why none is read."""

from __future__ import annotations

import codecs
import re
from xml.parsers import expat
from xml.parsers.expat import errors

from .number_rows import row_fault

BEGINNINGS: tuple[tuple[bytes, str, str], ...] = (
    (b"version https://git-lfs", "a pointer of Git LFS, not the file itself", "Fetch the file with `git lfs pull`"),
    (b"glTF", "a binary glTF", "Name it .glb"),
    (b"Kaydara FBX Binary", "an FBX", "Name it .fbx"),
    (b"ply\n", "a PLY", "Name it .ply"),
    (b"ply\r", "a PLY", "Name it .ply"),
    (b"PK\x03\x04", "a ZIP archive", "Unpack it and open the model in it"),
    (b"\x1f\x8b", "packed by gzip", "Name it .gz behind its own ending, or unpack it"),
    (b"\xfd7zXZ", "packed by xz", "Name it .xz behind its own ending, or unpack it"),
    (b"BZh", "packed by bzip2", "Name it .bz2 behind its own ending, or unpack it"),
    (b"7z\xbc\xaf", "a 7z archive", "Unpack it and open the model in it"),
    (b"Rar!", "a RAR archive", "Unpack it and open the model in it"),
    (b"\x89PNG", "a PNG picture", "Open the model that it belongs to"),
    (b"\xff\xd8\xff", "a JPEG picture", "Open the model that it belongs to"),
    (b"%PDF", "a PDF document", "Ask for the model itself"),
)
ENDINGS = {b"glTF": ("glb", "vrm"), b"Kaydara FBX Binary": ("fbx",), b"ply\n": ("ply",), b"ply\r": ("ply",)}
ZIPPED = ("3mf", "zip")
WEB_PAGE = re.compile(rb"\s*(<!doctype html|<html)", re.IGNORECASE)
UNFINISHED = (errors.XML_ERROR_NO_ELEMENTS, errors.XML_ERROR_UNCLOSED_TOKEN, errors.XML_ERROR_PARTIAL_CHAR)
XML = ("dae", "x3d", "xgl", "irr", "amf")


def other_kind(data: bytes, extension: str) -> str:
    """What the file is in truth, and what to do about it; "" where it may be what its name says."""
    if WEB_PAGE.match(data[:200]):
        return "it is a web page, as a download that failed leaves it. Fetch the file itself"
    for beginning, what, advice in BEGINNINGS:
        fits = extension in ENDINGS.get(beginning, ()) or (beginning == b"PK\x03\x04" and extension in ZIPPED)
        if data.startswith(beginning) and not fits:
            return f"it is {what}. {advice}"
    if extension in ("obj", "off", "ply", "stl") and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "it is a text in UTF-16, as some editors and shells write it. Save it as UTF-8 or ASCII"
    if extension in ("ply", "stl") and data.startswith(codecs.BOM_UTF8):
        return "before its first word stands a mark of UTF-8. Save it as ASCII, or as UTF-8 without that mark (BOM)"
    if not data.strip(b"\0 \t\r\n"):
        return "it holds nothing but zeros and spaces. Fetch it again"
    return ""


def xml_fault(data: bytes, extension: str) -> str:
    """Where the text of an XML format breaks its rules; "" where it does not."""
    if extension not in XML:
        return ""
    try:
        expat.ParserCreate().Parse(data, True)
    except LookupError as error:  # of an encoding that Python does not know
        return f"line 1: {error}"
    except expat.ExpatError as error:
        place = f"line {error.lineno}, column {error.offset + 1}"
        said = expat.ErrorString(error.code)
        return f"its text is cut short, at {place}" if said in UNFINISHED else f"{place}: {said}"
    return ""


PLY_KINDS = (
    *("char", "uchar", "short", "ushort", "int", "uint", "float", "double"),
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64"),
)


PLY_WORDS = ("ply", "format", "comment", "obj_info", "element", "property")


def ply_fault(data: bytes) -> str:
    """The first line of a PLY's header that no reader can take; "" where there is none."""
    if not data.startswith(b"ply"):
        return "line 1: it does not begin with the word ply"
    header, found, _ = data[: 1 << 16].partition(b"end_header")
    if not found:
        return "its header has no end_header"
    columns: dict[str, set[str]] = {}
    for number, line in enumerate(header.splitlines(), 1):
        words = line.decode("ascii", "backslashreplace").split()
        if words and words[0] not in PLY_WORDS:
            return f"line {number}, `{' '.join(words)[:60]}`: no line of a PLY's header begins so"
        kinds = words[2:4] if words[1:2] == ["list"] else words[1:2]
        wrong = [kind for kind in kinds if kind not in PLY_KINDS] if words[:1] == ["property"] else []
        if wrong:
            return f"line {number}, `{' '.join(words)[:60]}`: there is no type {wrong[0][:30]}"
        if words[:1] == ["element"] and not (len(words) == 3 and words[2].isdigit()):
            return f"line {number}, `{' '.join(words)[:60]}`: an element has a name and a count"
        if words[:1] == ["element"]:
            columns.setdefault(words[1], set())
        elif words[:1] == ["property"] and columns:
            columns[list(columns)[-1]].add(words[-1])
    missing = sorted({*"xyz"} - columns.get("vertex", set()))
    return f"its vertices have no {missing[0]}" if missing and "vertex" in columns else ""


def _wrong_corner(data: bytes) -> str:
    """The first line of an STL's text that begins as a corner and has not three numbers."""
    for number, line in enumerate(data.splitlines(), 1):
        word, _, rest = line.strip().partition(b" ")
        if word == b"vertex" and (wrong := row_fault(number, rest, 3)):
            return wrong
    return ""


def _open_facet(data: bytes) -> str:
    """Where an STL's text ends before a facet that it began does."""
    begun, ended = (len(re.findall(rb"^[ \t]*" + word, data, re.M | re.I)) for word in (b"facet\\b", b"endfacet\\b"))
    line = data.rstrip().count(b"\n") + 1
    return f"it is cut short: line {line:,}, its last, is within facet {begun:,}" if begun > ended else ""


def head_fault(data: bytes, extension: str) -> str:
    """How the beginning of an FBX, OFF or STL is not one; "" where it is."""
    if extension == "fbx" and not data.startswith(b"Kaydara FBX Binary") and b"FBXHeaderExtension" not in data:
        return "it begins neither with the words Kaydara FBX Binary nor as the text of an FBX"
    if extension == "off" and b"OFF" not in data[:200].upper().partition(b"\n")[0]:
        return "line 1: it does not begin with the word OFF"
    if extension == "stl" and not data.lstrip().lower().startswith(b"solid") and len(data) < 84:
        return "it is neither a text that begins with solid nor records behind a header of 80 bytes"
    if extension == "stl" and data.lstrip().lower().startswith(b"solid"):
        return _wrong_corner(data) or _open_facet(data)
    return ""
