"""Odd zip files by name: those that the tools unpack, and those that they do not."""

from __future__ import annotations

import struct

from packages.zips import BINARY, DESCRIPTORS, DOS, ELSEWHERE, FILE, FOLDER, LINK, PROGRAM, STORED, UNIX, Item, build

PROVIDER = Item(BINARY, b"#!/bin/sh\nexit 0\n" * 40, attributes=PROGRAM)
TEXT = Item(b"README.md", b"# hi\n")
MAC, NTFS, VFAT = 19, 11, 14


def with_provider(*items: Item) -> bytes:
    return build([PROVIDER, *items])


ACCEPTED: dict[str, bytes] = {
    "two names for one content": build([Item(BINARY, b"hello\n" * 9), Item(b"x", b"hello\n" * 9, central={"offset": 0})]),
    "plain": with_provider(TEXT),
    "stored": build([Item(BINARY, b"hello\n", STORED)]),
    "deflated with descriptor, PK and 32 bits": build([Item(BINARY, b"hello\n" * 99, descriptor="PK and 32 bits")]),
    "deflated with descriptor, 32 bits": build([Item(BINARY, b"hello\n" * 99, descriptor="32 bits"), TEXT]),
    "deflated with descriptor, PK and 64 bits": build([Item(BINARY, b"hello\n", descriptor="PK and 64 bits"), TEXT]),
    "deflated with descriptor, 64 bits": build([Item(BINARY, b"hello\n", descriptor="64 bits"), TEXT]),
    "stored with descriptor": build([Item(BINARY, b"hello\n", STORED, "PK and 32 bits"), TEXT]),
    "stored with descriptor, the content looks like one": build(
        [Item(BINARY, b"PK\x07\x08" + bytes(12) + b"PK\x03\x04", STORED, "PK and 32 bits"), TEXT]
    ),
    "empty files with every descriptor": with_provider(
        *(Item(form.encode(), descriptor=form) for form in DESCRIPTORS), TEXT
    ),
    "zip64 headers": build([Item(BINARY, b"hello\n", is_wide=True), Item(b"x", b"y", STORED, is_wide=True)]),
    "zip64 end": build([PROVIDER, TEXT], is_wide=True),
    "zip64 all over, with a prefix": build(
        [Item(BINARY, b"a", is_wide=True)], is_wide=True, prefix=b"#!/bin/sh\n", counts_prefix=True
    ),
    "comment": build([PROVIDER], comment=b"made with love"),
    "comment with a header of a directory": build([PROVIDER], comment=b"PK\x01\x02" + bytes(60)),
    "comment of 65535 bytes": build([PROVIDER], comment=b"-" * 65535),
    "comment shorter than what follows": build([PROVIDER], trailing=b"junk"),
    "prefix": build([PROVIDER, TEXT], prefix=b"MZ" * 40),
    "prefix that is counted": build([PROVIDER, TEXT], prefix=b"MZ" * 40, counts_prefix=True),
    "prefix that looks like an entry": build([PROVIDER], prefix=build([TEXT])[:-98]),
    "two zip files, one behind the other": build([TEXT]) + build([PROVIDER]),
    "gap before the directory": build([PROVIDER, TEXT], gap=b"----"),
    "gap between entries": with_provider(Item(b"x", b"y", before=b"PK\x03\x04????")),
    "entry that is not listed": with_provider(Item(b"hidden", b"?", is_listed=False), TEXT),
    "bytes behind the deflate stream": with_provider(Item(b"x", b"y", after=b"1234"), TEXT),
    "duplicates": with_provider(Item(b"x", b"one"), TEXT, Item(b"x", b"two")),
    "duplicates by cleaning": with_provider(Item(b"./x", b"one"), Item(b"x", b"two"), Item(b"/x", b"three")),
    "folder": build([Item(b"docs/"), Item(b"docs/README.md", b"# hi\n"), Item(BINARY, b"hello\n")]),
    "folder with content": with_provider(Item(b"docs/", b"what?"), TEXT),
    "folder of an unknown method": with_provider(Item(b"docs/", b"", 99)),
    "folder by its mode": with_provider(Item(b"docs", b"what?", attributes=FOLDER)),
    "folder by its DOS attribute": with_provider(Item(b"docs", b"what?", system=DOS, attributes=0x10)),
    "folder twice": with_provider(Item(b"docs/"), Item(b"docs/x", b"y"), Item(b"docs", attributes=FOLDER)),
    "folders of nothing": with_provider(Item(b"a/b/c/d/")),
    "folder with a line feed": with_provider(Item(b"a\nb/")),
    "the folder itself": with_provider(Item(b"./"), Item(b"/")),
    "link": with_provider(Item(b"to", b"/etc/passwd", attributes=LINK)),
    "link to a folder, and a file of its name behind it": with_provider(Item(b"to", b"/", attributes=LINK), Item(b"x")),
    "pipe, device": with_provider(Item(b"p", attributes=0o010644 << 16), Item(b"d", b"x", attributes=0o020644 << 16)),
    "set-user-id": with_provider(Item(b"su", b"x", attributes=0o106755 << 16)),
    "mode 0": with_provider(Item(b"x", b"y", attributes=0)),
    "mode 0, twice": with_provider(Item(b"x", b"y", attributes=0), Item(b"x", b"z", attributes=0)),
    "packed on many systems": build(
        [PROVIDER, *(Item(b"s%d" % one, b"x", system=one, attributes=FILE | 1) for one in (DOS, ELSEWHERE, MAC, NTFS, VFAT, UNIX))]
    ),
    "name ./x": with_provider(Item(b"./x", b"y")),
    "name a//b": with_provider(Item(b"a//b", b"y")),
    "name a/./b": with_provider(Item(b"a/./b", b"y")),
    "absolute name": with_provider(Item(b"/etc/x", b"y")),
    "absolute name, twice": with_provider(Item(b"//x", b"y")),
    "backslash": with_provider(Item(b"a\\b", b"y"), Item(b"C:\\x", b"y")),
    "dots that are a name": with_provider(Item(b"foo..bar", b"y"), Item(b"...", b"z")),
    "name that is not UTF-8": with_provider(Item(b"\xff\xfe\x80", b"y")),
    "name in UTF-8, said and not said": with_provider(
        Item("é".encode(), b"y"), Item("ü".encode(), b"z", local={"flags": 0x800}, central={"flags": 0x800})
    ),
    "name with controls": with_provider(Item(b"\x1b[31m\r", b"y")),
    "name of 255 bytes": with_provider(Item(b"n" * 255, b"y")),
    "another name in the local header": with_provider(Item(b"x", b"y", local={"name": b"other/name"})),
    "another method in the local header": with_provider(Item(b"x", b"y" * 50, local={"method": 0})),
    "another CRC in the local header": with_provider(Item(b"x", b"y", local={"crc": 1})),
    "other sizes in the local header": with_provider(Item(b"x", b"y", STORED, local={"size": 7, "packed": 9})),
    "other flags in the local header": with_provider(Item(b"x", b"y", local={"flags": 0x9})),
    "extra field in the local header": with_provider(Item(b"x", b"y", local={"extra": b"UT\x05\x00\x01abcd"})),
    "extra fields of garbage": with_provider(Item(b"x", b"y", central={"extra": b"\x01\x00\xff\xff?"})),
    "comment of an entry": with_provider(Item(b"x", b"y", central={"comment": b"PK\x05\x06"})),
    "CRC 0 for not set": with_provider(Item(b"x", b"y", central={"crc": 0})),
    "more entries than 65536 would say": build([PROVIDER, TEXT], end={"count": 2 + 65536}),
    "another size of the directory": build([PROVIDER, TEXT], end={"size": 60}),
    "empty file": with_provider(Item(b"empty"), Item(b"stored", b"", STORED)),
    "many entries": with_provider(*(Item(b"d%d/f%d" % (one % 7, one), b"%d" % one) for one in range(3000))),
}  # fmt: skip
"""Zip files that the tools unpack, each with a provider in it."""

REFUSED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "not a complete zip file"),
    "text": (b"<html>Please log in</html>", "not a complete zip file: there is no directory at its end"),
    "empty": (build([]), "an empty zip file"),
    "only hidden entries": (build([Item(BINARY, b"x", is_listed=False)]), "an empty zip file"),
    "leads out": (with_provider(Item(b"../x", b"y")), "../x in the package leads out of its folder"),
    "leads out and back": (with_provider(Item(b"a/../x", b"y")), "leads out"),
    "leads out on Windows": (with_provider(Item(b"a\\..\\x", b"y")), "leads out"),
    "folder that leads out": (with_provider(Item(b"../../")), "leads out"),
    "absolute and out": (with_provider(Item(b"/../x", b"y")), "leads out"),
    "no name": (with_provider(Item(b"", b"y")), "is a file and a folder"),
    "the folder as a file": (with_provider(Item(b".", b"y")), "is a file and a folder"),
    "file and folder": (with_provider(Item(b"a", b"y"), Item(b"a/b", b"z")), "a/b in the package is a file and a folder"),
    "folder and file": (with_provider(Item(b"a/b", b"y"), Item(b"a", b"z")), "is a file and a folder"),
    "file, then folder entry": (with_provider(Item(b"a", b"y"), Item(b"a/")), "is a file and a folder"),
    "name with NUL": (with_provider(Item(b"a\0b", b"y")), "a\\x00b in the package cannot be the name"),
    "name of 256 bytes": (with_provider(Item(b"n" * 256, b"y")), "cannot be the name of a file"),
    "line feed": (with_provider(Item(b"a\nb", b"y")), "a\\x0ab in the package has a line feed in its name"),
    "line feed in a folder": (with_provider(Item(b"a\nb/c", b"y")), "line feed"),
    "unknown method": (with_provider(Item(b"x", b"y", 12)), "x in the package uses compression method 12"),
    "wrong CRC": (with_provider(Item(b"x", b"y", central={"crc": 1})), "x in the package is damaged: its content"),
    "wrong CRC of what is replaced": (
        with_provider(Item(b"x", b"y", central={"crc": 1}), Item(b"x", b"z")), "its content is not"
    ),
    "wrong size": (with_provider(Item(b"x", b"y", central={"size": 7})), "it has 1 bytes of 7"),
    "wrong smaller size": (with_provider(Item(b"x", b"yyy", central={"size": 2})), "it has more than its 2 bytes"),
    "wrong packed size": (with_provider(Item(b"x", b"y" * 90, central={"packed": 2})), "it cannot be inflated"),
    "wrong offset": (with_provider(Item(b"x", b"y", central={"offset": 3})), "it is not where the directory says"),
    "offset beyond": (with_provider(Item(b"x", b"y", central={"offset": 1 << 30})), "it is not where"),
    "descriptor is promised and not there": (with_provider(Item(b"x", b"y", central={"flags": 8})), "no data descriptor"),
    "descriptor with CRC 0": (
        with_provider(Item(b"x", b"y", descriptor="32 bits", central={"crc": 0})), "no data descriptor"
    ),
    "no deflate stream": (with_provider(Item(b"x", b"\xff" * 9, STORED, central={"method": 8})), "be inflated"),
    "too few entries": (build([PROVIDER, TEXT], end={"count": 3}), "its directory is damaged"),
    "too many entries": (build([PROVIDER, TEXT], end={"count": 1}), "its directory is damaged"),
    "directory is elsewhere": (build([PROVIDER, TEXT], end={"offset": 5}), "it is not where the directory says"),
    "directory is outside": (build([PROVIDER], end={"size": 1 << 30}), "its directory would be outside"),
    "comment breaks off": (build([PROVIDER], end={"comment": 9}), "it breaks off in its comment"),
    "much behind the end": (build([PROVIDER], trailing=bytes(70_000)), "no directory at its end"),
    "zip64 field is missing": (with_provider(Item(b"x", b"y", central={"offset": 0xFFFFFFFF})), "directory is damaged"),
    "zip64 record behind a prefix": (
        build([PROVIDER], is_wide=True, prefix=b"#!/bin/sh\n"), "its zip64 record is damaged"
    ),
    "zip64 record is elsewhere": (
        build([PROVIDER], end={"count": 0xFFFF}, gap=struct.pack("<4sLQL", b"PK\x06\x07", 0, 5, 1)),
        "its directory is damaged",
    ),
}  # fmt: skip
"""Zip files that the tools do not unpack, or whose folder they cannot hash, and what we say."""
