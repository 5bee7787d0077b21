"""Completion of the command line in bash, zsh and fish: `solfec completion SHELL` prints it."""

from __future__ import annotations

from .switches import NEW_SWITCHES, SUBCOMMANDS, SWITCHES

ALL = (*SWITCHES, *NEW_SWITCHES)

BASH = """\
# eval "$(solfec completion bash)"
_solfec() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
    COMPREPLY=()
    case "$before" in
        -i|-t) return ;;
        completion) COMPREPLY=( $(compgen -W "bash zsh fish" -- "$word") ); return ;;
    esac
    if [[ "$word" == -* ]]; then
        COMPREPLY=( $(compgen -W "{switches}" -- "$word") )
    elif [[ $COMP_CWORD -eq 1 ]]; then
        COMPREPLY=( $(compgen -W "{subcommands}" -- "$word") $(compgen -f -- "$word") )
    fi
}}
complete -o default -F _solfec solfec
"""

ZSH = """\
#compdef solfec
# eval "$(solfec completion zsh)"
_solfec() {{
    if (( CURRENT == 2 )) && [[ "$words[2]" != -* ]]; then
        local -a subcommands=({subcommands})
        _describe 'sub-command' subcommands
        _files
    elif [[ "$words[2]" == completion ]]; then
        compadd bash zsh fish
    else
        _arguments {switches} '*:file:_files'
    fi
}}
compdef _solfec solfec
"""


def bash() -> str:
    """Return the completion script for bash."""
    return BASH.format(
        switches=" ".join(switch for switch, *_ in ALL), subcommands=" ".join(name for name, *_ in SUBCOMMANDS)
    )


def zsh() -> str:
    """Return the completion script for zsh."""
    values = {"FILE": ":file:_files", "NAME": ":name:_files -/"}
    switches = [f"{switch}[{_quiet(text)}]" + (values.get(value, f":{value.lower()}:") if value else "") for switch, value, text in ALL]
    return ZSH.format(
        switches=" ".join(f"'{switch}'" for switch in switches),
        subcommands=" ".join(f"'{name}:{_quiet(text)}'" for name, _, text in SUBCOMMANDS),
    )


def fish() -> str:
    """Return the completion script for fish."""
    lines = ["# solfec completion fish | source"]
    for switch, value, text in ALL:
        name = f"-l {switch[2:]}" if switch.startswith("--") else f"-s {switch[1:]}"
        lines.append(f"complete -c solfec {name} {'-r ' if value else ''}-d '{_quiet(text)}'")
    for name, _, text in SUBCOMMANDS:
        lines.append(f"complete -c solfec -n __fish_use_subcommand -a {name} -d '{_quiet(text)}'")
    lines.append("complete -c solfec -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'")
    return "\n".join(lines) + "\n"


def _quiet(text: str) -> str:
    """Return a description without characters that are special in shells."""
    return text.replace("'", "").replace("[", "(").replace("]", ")").replace(":", " -")


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}
