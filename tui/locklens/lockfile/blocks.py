"""Provider blocks as they stand in a lock file, before anything in them is judged.

They come from the scanner, which knows one layout, or from the HCL tree, so with every comment, layout and escape
that HCL allows; `BodyReader` knows which of HCL's constructs a lock file may not hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.hcl import Block, Body, Expression, ListExpr, Literal, SourcePlace, SyntaxProblem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.lockfile.scan import ScannedBlock

_LABEL_COLUMN = len('provider "')
_HASH_COLUMN = 5


class Text(Struct, frozen=True):
    """A text with the place of its value: line and column from 1."""

    value: str
    line: int
    column: int


class ProviderBlock(Struct, frozen=True):
    """One provider block whose attributes have the right types; None stands for an attribute that is absent."""

    label: Text
    line: int
    version: Text | None
    constraints: Text | None
    hashes: Sequence[str] | None
    hash_lines: Sequence[int]
    hash_columns: Sequence[int]


def from_scan(block: ScannedBlock) -> ProviderBlock:
    """Give the values of a scanned block their places, which follow from its layout."""
    label, line, version, constraints, hashes = block
    column = len('  version     = "') if constraints else len('  version = "')
    first_hash = line + (4 if constraints else 3)
    return ProviderBlock(
        label=Text(label, line, _LABEL_COLUMN),
        line=line,
        version=Text(version, line + 1, column),
        constraints=Text(constraints, line + 2, column) if constraints else None,
        hashes=hashes or None,
        hash_lines=range(first_hash, first_hash + len(hashes)),
        hash_columns=(_HASH_COLUMN,) * len(hashes),
    )


class BodyReader:
    """Takes provider blocks out of an HCL tree and collects what the tools would refuse or warn of."""

    def __init__(self) -> None:
        self.blocks: list[ProviderBlock] = []
        self.problems: list[SyntaxProblem] = []
        self.warnings: list[SyntaxProblem] = []

    def read(self, body: Body) -> None:
        """Read a file's top level."""
        for name, attribute in body.attributes.items():
            self._refuse(attribute.place, "Unsupported argument", f'An argument named "{name}" is not expected here.')
        modules = 0
        for block in body.all_blocks():
            if block.type == "provider":
                self._read_provider(block)
            elif block.type == "module":
                modules += self._has_one_label(block, "path")
                if modules == 1:
                    self._warn_of_modules(block)
            else:
                self._refuse(
                    block.place, "Unsupported block type", f'Blocks of type "{block.type}" are not expected here.'
                )

    def _refuse(self, place: SourcePlace, summary: str, detail: str) -> None:
        self.problems.append(SyntaxProblem(place.line, place.column, summary, detail))

    def _warn_of_modules(self, block: Block) -> None:
        summary = "Dependency locks for modules are not yet supported"
        detail = "the block is ignored and will be dropped when the file is rewritten"
        self.warnings.append(SyntaxProblem(block.place.line, block.place.column, summary, detail))

    def _has_one_label(self, block: Block, label: str) -> bool:
        if len(block.labels) == 1:
            return True
        if not block.labels:
            detail = f"All {block.type} blocks must have 1 label ({label})."
            self._refuse(block.place, f"Missing {label} for {block.type}", detail)
        else:
            self._refuse(
                block.label_places[1],
                f"Extraneous label for {block.type}",
                f"Only 1 label ({label}) is expected for {block.type} blocks.",
            )
        return False

    def _read_provider(self, block: Block) -> None:
        if not self._has_one_label(block, "source_addr"):
            return
        for nested in block.body.all_blocks():
            self._refuse(
                nested.place, "Unsupported block type", f'Blocks of type "{nested.type}" are not expected here.'
            )
        values = dict(block.body.attributes)
        version = values.pop("version", None)
        constraints = values.pop("constraints", None)
        hashes = values.pop("hashes", None)
        for name, attribute in values.items():
            self._refuse(attribute.place, "Unsupported argument", f'An argument named "{name}" is not expected here.')
        version_text = None
        if version is None:
            self._refuse(block.place, "Missing required argument", 'The argument "version" is required.')
        elif isinstance(version.value, Literal) and version.value.value is None:
            detail = 'A provider lock block must contain a "version" argument.'
            self._refuse(version.value.place, "Missing required argument", detail)
        else:
            version_text = self._text(version.value)
        constraints_text = self._text(constraints.value) if constraints else None
        hash_texts = self._hashes(hashes.value) if hashes else None
        label = Text(block.labels[0], block.label_places[0].line, block.label_places[0].column)
        self.blocks.append(
            ProviderBlock(
                label=label,
                line=block.place.line,
                version=version_text,
                constraints=constraints_text,
                hashes=None if hash_texts is None else [text.value for text in hash_texts],
                hash_lines=[text.line for text in hash_texts or ()],
                hash_columns=[text.column for text in hash_texts or ()],
            )
        )

    def _text(self, value: Expression) -> Text | None:
        """A constant as the text that the tools convert it to; None, with a problem, for anything else."""
        text = value.text if isinstance(value, Literal) else None
        if text is None:
            is_null = isinstance(value, Literal) and value.value is None
            self._refuse(
                value.place,
                "Unsuitable value type" if is_null else "Invalid expression",
                "null value is not allowed" if is_null else "a literal string is required here",
            )
            return None
        return Text(text, value.place.line, value.place.column)

    def _hashes(self, value: Expression) -> list[Text] | None:
        if not isinstance(value, ListExpr):
            self._refuse(value.place, "Invalid expression", "A static list expression is required.")
            return None
        texts = [self._text(item) for item in value.items]
        return [text for text in texts if text is not None] if None not in texts else None
