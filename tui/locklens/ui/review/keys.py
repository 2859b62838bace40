"""The keys of the review."""

from __future__ import annotations

from locklens.ui.shell.key_table import EVERYWHERE, UNDO, UNSUPPORTED, Key, KeyGroup, KeyTable

MOVING = KeyGroup(
    "Moving",
    (
        Key("", "j k, arrows", "", "next and previous row or line", "move"),
        Key("", "g G", "", "first and last row"),
        Key("", "h l, left right", "", "fold and unfold; h on a row that does not fold goes to its section", "fold"),
        Key("tab,shift+tab", "tab", "other_pane", "between the list and the detail", "pane"),
        Key("", "enter", "", "open the detail of the row; below 100 columns it fills the screen", "open"),
        Key("n", "n", "finding(1)", "next row with a finding", "next finding"),
        Key("N", "N", "finding(-1)", "previous row with a finding"),
        Key("left_square_bracket", "[", "root(-1)", "previous root or section"),
        Key("right_square_bracket", "]", "root(1)", "next root or section"),
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
            "mark the row's changes as reviewed, or take the mark back; it is kept for the next run",
            "reviewed",
        ),
        Key("a", "a", "mark_shown", "mark all changes that the filter shows, or take all marks back"),
        Key(
            "slash",
            "/",
            "filter",
            "filter by text, sev>=warn, kind:upgrade, root:prod, provider:aws, rule:LK005, proof:unknown, unreviewed",
            "filter",
        ),
        Key("b", "b", "group", "group by root, by provider, by severity", "group"),
        Key("d", "d", "diff", "raw diff of the provider's block, or of all of the root's", "raw diff"),
        Key(
            "w",
            "w",
            "why",
            "why the provider is there and at its version: who requires it, what holds back the newest",
            "why",
        ),
        Key("x", "x", "expand", "whole hashes, kept hashes, and what each rule means", "expand"),
        Key(
            "y",
            "y",
            "copy",
            "copy what is highlighted: provider and versions, finding, hash, whole fingerprint. No paths: safe to paste"
            " in public",
            "copy",
        ),
        Key("e", "e", "edit", "open the highlighted line in $VISUAL or $EDITOR", "edit"),
        Key(
            "o",
            "o",
            "open_page",
            "open the release's page on the registry, or copy its address where there is no browser",
        ),
        Key(
            "v",
            "v",
            "prove",
            "prove the h1 of the row, the group or the section: download the signed packages and hash them; says first"
            " how much that is",
            "prove",
        ),
        Key("r", "r", "reload", "read everything and ask the registries again", "ask again"),
    ),
)

DECIDING = KeyGroup(
    "Deciding: each lands on a Preview, nothing is written before enter there",
    (
        Key("R", "R", "restore", "restore the row's change, or all of the group or section, from the base", "restore"),
        Key("P", "P", "prune", "prune the highlighted orphan, or all that nothing requires in the row's root", "prune"),
        Key(
            "L",
            "L",
            "lock",
            "lock the wanted platforms that are missing; without locklens.toml: those that other entries of the file"
            " have",
            "lock",
        ),
        Key("U", "U", "upgrade", "to the row's provider on the screen of upgrades", "upgrade"),
        Key("F", "F", "format", "write the lock file of the row's root as its tool does", "format"),
        Key(
            "S",
            "S",
            "stage",
            "stage all changes that are marked, of every root, as git add -p would: the rest stays in the work tree",
            "stage",
        ),
        UNDO,
    ),
)

PROGRAM = KeyGroup(
    "Program",
    (*EVERYWHERE, Key("q", "q", "leave", "quit; below 100 columns first back to the list", "quit")),
)

REVIEW_KEYS = KeyTable(
    (MOVING, REVIEWING, DECIDING, PROGRAM, UNSUPPORTED),
    ("?", "q", "space", "enter", "n", "/", "v", "S", "d", "b", "R", "P", "x", "w", ":", "y", "e", "tab", "r", "j k"),
    ("?", "esc", "j k", "y", "e", "x", "v", "space", "R", "d", "w", "n", "tab", "q", ":", "r"),
)
