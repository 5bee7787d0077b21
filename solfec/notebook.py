"""A progress bar in a notebook: one output of a cell, which is updated."""

from __future__ import annotations

import sys
from html import escape


class ProgressBar:
    """A bar and a line of text; shown with the first report."""

    def __init__(self) -> None:
        self._shown = None

    def show(self, share: float, text: str) -> None:
        """Show a share from 0 to 1 and a text in place of the former ones."""
        bar = f'<progress max="1" value="{share:.4f}" style="width: 12em"></progress> <code>{escape(text.strip())}</code>'
        bundle = {"text/plain": text, "text/html": bar}
        if self._shown is None:
            from IPython.display import display

            self._shown = display(bundle, raw=True, display_id=True)
        else:
            self._shown.update(bundle, raw=True)


def progress_bar(stream) -> ProgressBar | None:
    """Return a bar if a stream is the output of a notebook's cell."""
    kernel = sys.modules.get("ipykernel.iostream")
    return ProgressBar() if kernel is not None and isinstance(stream, kernel.OutStream) else None
