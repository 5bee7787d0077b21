"""`python -m solfec` is the command `solfec`."""

import sys

from .cli import main

sys.exit(main())
