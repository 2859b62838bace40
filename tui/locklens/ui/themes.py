"""The two themes: the only source of colours, through the style sheet."""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="locklens-dark",
    dark=True,
    primary="#86aef0",
    secondary="#7fc4c9",
    accent="#86aef0",
    warning="#e2b45c",
    error="#ff7b72",
    success="#85c98a",
    foreground="#d8dbe2",
    background="#14161b",
    surface="#191c22",
    panel="#242832",
    variables={
        "quiet": "#a2aab8",
        "rule": "#333946",
        "cursor-line": "#2b3a55",
        "cursor-line-unfocused": "#252a34",
        "footer-key-foreground": "#86aef0",
    },
)

LIGHT = Theme(
    name="locklens-light",
    dark=False,
    primary="#1d55b0",
    secondary="#0b6670",
    accent="#1d55b0",
    warning="#7d4f00",
    error="#b01c14",
    success="#1c6329",
    foreground="#20242b",
    background="#fbfbfa",
    surface="#f4f4f2",
    panel="#e7e7e4",
    variables={
        "quiet": "#59606c",
        "rule": "#c9cac7",
        "cursor-line": "#d3e1f8",
        "cursor-line-unfocused": "#e6e8ea",
        "footer-key-foreground": "#1d55b0",
    },
)

THEMES = (DARK, LIGHT)
