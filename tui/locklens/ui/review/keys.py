"""The keys of the Review screen."""

from __future__ import annotations

from locklens.ui.shell.key_table import DIAGNOSE, EVERYWHERE, FILTER, QUIT, SIDES, Key, KeyGroup, KeyTable, elsewhere

MOVING = KeyGroup(
    "Moving",
    (
        Key("", "j k, arrows", "", "next and previous row or line", "move"),
        Key("", "g G", "", "first and last row"),
        Key("", "h l, left right", "", "fold and unfold; h on a row without a fold goes to its section", "fold"),
        Key("tab,shift+tab", "tab", "other_pane", "switch pane: between list and detail", "pane"),
        Key("", "enter", "", "open the detail; full screen on narrow terminals", "open"),
        Key("n", "n", "finding(1)", "next finding: the next warning or block that is not reviewed", "next finding"),
        Key("N", "N", "finding(-1)", "previous finding: the previous warning or block that is not reviewed"),
        Key("u", "u", "unreviewed", "next unreviewed row: of any severity", "unreviewed"),
        Key("left_square_bracket", "[", "root(-1)", "previous section"),
        Key("right_square_bracket", "]", "root(1)", "next section"),
        Key("escape", "esc", "back", "back: from the detail to the list, from a filter to all rows", "back"),
    ),
)

REVIEWING = KeyGroup(
    "Reviewing",
    (
        Key(
            "space",
            "space",
            "mark",
            "mark reviewed: the changes and findings of the row; again to unmark; kept for later runs",
            "reviewed",
        ),
        Key(
            "a",
            "a",
            "mark_shown",
            "mark all shown: every row that the filter shows; again to unmark; Z marks them as before",
        ),
        FILTER,
        Key("s", "s", "sort", "change order: worst first, by provider, latest release first, by root", "sort"),
        Key("b", "b", "group", "change grouping: by root, by provider, by severity", "group"),
        Key("d", "d", "diff", "show raw diff: the block of the provider, or all changed blocks of the row", "raw diff"),
        Key(
            "w",
            "w",
            "why",
            "why this version: requirements of the provider, and the holds on newer versions",
            "why",
        ),
        DIAGNOSE,
        Key("x", "x", "expand", "show full hashes: also unchanged ones, and the explanation of each rule", "expand"),
        Key(
            "y",
            "y",
            "copy",
            "copy: row or Markdown, without paths and safe to paste in public; provider, finding, fingerprint, hash",
            "copy",
        ),
        Key("e", "e", "edit", "edit file: at the highlighted line, in $VISUAL or $EDITOR", "edit"),
        Key(
            "o",
            "o",
            "open_page",
            "open release page: on the registry; copies the URL without a browser",
        ),
        Key(
            "v",
            "v",
            "prove",
            "verify by download: the h1 of the row, group or section, with the signed packages; shows the size first",
            "verify",
        ),
        Key("U", "U", "upgrade", "upgrade this provider: on the Upgrade screen", "upgrade"),
        Key("r", "r", "reload", "reload: read all files, and ask the registries again", "reload"),
    ),
)

DECIDING = KeyGroup(
    "Opens a Preview: nothing is written before enter",
    (
        Key("R", "R", "restore", "restore from base: the change of the row, or all of the group or section", "restore"),
        Key("P", "P", "prune", "prune orphans: the highlighted one, or all in the row's root", "prune"),
        Key(
            "L",
            "L",
            "lock",
            "lock missing platforms: the required ones; without locklens.toml, those of the file's other entries",
            "lock",
        ),
        Key(
            "A",
            "A",
            "accept",
            "accept finding: of the row's change, with a reason and an optional date, in locklens.toml",
            "accept",
        ),
        Key(
            "M",
            "M",
            "merge",
            "merge lock file: that git left in conflict, by block; a side for each provider that both changed",
            "merge",
        ),
        Key("F", "F", "format", "format lock file: of the row's root, as its tool writes it", "format"),
        Key(
            "S",
            "S",
            "stage",
            "stage marked changes: of every root, as git add -p would; the others remain unstaged",
            "stage",
        ),
        Key("Z", "Z", "undo", "undo last apply: also of an earlier run; after unmarking, mark again instead", "undo"),
    ),
)

PROGRAM = KeyGroup(
    "Program",
    (SIDES, *EVERYWHERE, QUIT),
)

REVIEW_KEYS = KeyTable(
    (MOVING, REVIEWING, DECIDING, PROGRAM, elsewhere("L", "U", "R", "P", "F", "S", "A")),
    (
        "?",
        "q ctrl+c",
        "space",
        "enter",
        "n",
        "/",
        "v",
        "S",
        "d",
        "b",
        "i",
        "s",
        "u",
        "R",
        "P",
        "A",
        "M",
        "x",
        "w",
        ":",
        "y",
        "e",
        "tab",
        "r",
        "j k",
    ),
    ("?", "esc", "j k", "y", "e", "x", "v", "i", "space", "R", "d", "w", "n", "tab", "q ctrl+c", ":", "r"),
)
