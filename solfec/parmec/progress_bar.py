"""A bar that shows the progress of a script."""

from __future__ import annotations

import sys


def progress_bar(iteration, total, prefix="", suffix="", decimals=1, length=50, fill="#"):
    """Print a bar for `iteration` of `total`; with the last iteration the line ends.

    Parameters
    ----------
    iteration, total : int
    prefix, suffix : str
        Words around the bar.
    decimals : int
        Of the percentage.
    length : int
        Characters of the whole bar.
    fill : str
    """
    share = iteration / float(total)
    done = int(length * share)
    sys.stdout.write(f"\r{prefix} |{fill * done}{'-' * (length - done)}| {100 * share:.{decimals}f}% {suffix}")
    if iteration >= total:
        sys.stdout.write("\n")
    sys.stdout.flush()


printProgressBar = progress_bar
