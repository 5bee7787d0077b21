"""Stub of `import solfec` for editors and type checkers, since its commands load when used: `python tests/stub.py` writes it anew."""

from __future__ import annotations

from pathlib import Path

from solfec.language import ABOVE, COMMANDS

STUB = Path(__file__).parent.parent / "solfec" / "__init__.pyi"
HEAD = '''"""Commands of the input language for editors and type checkers; at run time they are loaded when first used."""

'''


def stub() -> str:
    """Text of the stub."""
    modules: dict[str, list[str]] = {}
    for name, module in COMMANDS.items():
        modules.setdefault(module, []).append(name)
    text = HEAD
    for module, names in sorted(modules.items()):
        place = ABOVE[module].replace("solfec.", ".", 1) if module in ABOVE else f".language.{module}"
        text += f"from {place} import " + ", ".join(f"{name} as {name}" for name in sorted(names)) + "\n"
    text += "from .viewer.views import view as view\n\n__version__: str\n"
    return text + "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(COMMANDS)) + "]\n"


if __name__ == "__main__":
    STUB.write_text(stub())
