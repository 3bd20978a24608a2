"""`--completion bash|zsh|fish`: a script that completes commands, flags, and the names of structures, ray types, scenes
and settings.

The script is made from the parsers and the registries as they are now; nothing is run while a person types.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

from raygrove.app.cli.arguments import BENCH_KINDS, COMMANDS, TREE_KINDS, command_parser, top_parser
from raygrove.app.scene_io.demos import ALL_DEMOS
from raygrove.app.settings.flags import KEY_FLAGS
from raygrove.app.settings.settings import Settings, option_field, option_groups
from raygrove.app.user_files import presets
from raygrove.app.user_files.published import PUBLISHED
from raygrove.gpu.settings import fields_of
from raygrove.program import typed

SHELLS = ("bash", "zsh", "fish")
FILE_FLAGS = ("--settings", "--out", "--statistics", "--tree", "--store", "--rays")
PROGRAMS = ("raygrove", "python", "python3", ".venv/bin/python", "main.py", "./main.py")
"""What a person types first; for a Python only where main.py follows."""


def script(shell: str) -> str:
    """The script for one of SHELLS."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


def flags(command: str) -> dict[str, argparse.Action]:
    """The flags of a command; of none, what may stand before one."""
    parser = command_parser(command, "") if command else top_parser("")
    return {flag: action for action in parser._actions for flag in action.option_strings}


def keys() -> list[str]:
    """Every setting's dotted key."""
    return [f"{table}.{field.name}" for table, options in option_groups(Settings()) for field in fields_of(options)]


def values(key: str) -> tuple[str, ...]:
    """The words that a setting takes, where they can be listed."""
    if key == "render.device":
        return ("auto", "cpu", "cuda")
    field = option_field(key)
    return ("true", "false") if field.type is bool else field.info.choices


def flag_values() -> dict[str, tuple[str, ...]]:
    """The words that each flag takes, where they can be listed."""
    found = {flag: values(key) for key, flag in KEY_FLAGS.items()}
    found["--demo"] = tuple(info.name for info in ALL_DEMOS)
    found["--completion"] = SHELLS
    found["--preset"] = (*PUBLISHED, *(name for name in presets.names() if re.fullmatch(r"[\w.+-]+", name)))
    return {flag: words for flag, words in found.items() if words}


# -- bash and zsh --------------------------------------------------------------------------------------------------
def _cases() -> Iterator[str]:
    for flag, words in flag_values().items():
        yield f"    {flag}) words='{' '.join(words)}';;"
    for key in keys():
        if values(key):
            yield f"    {key}) words='{' '.join(values(key))}';;"
    taking = sorted({flag for command in COMMANDS for flag, action in flags(command).items() if action.nargs != 0})
    free = [flag for flag in taking if flag not in (*flag_values(), *FILE_FLAGS, "--set")]
    yield f"    {'|'.join(free)}) return 0;;"
    yield f"    {'|'.join(FILE_FLAGS)}) files=1;;"
    yield f"    --set) words='{' '.join(f'{key}=' for key in keys())}'; space=0;;"


def _bash() -> str:
    by_command = "\n".join(f"      {name}) words='{' '.join(flags(name))}';;" for name in COMMANDS)
    cases = "\n".join(_cases())
    programs = " ".join(PROGRAMS)
    return f"""# Completion of Raygrove for bash. Use: source <({typed()} --completion bash)
_raygrove() {{
  local first=0 command='' kind='' word='' words='' files=0 space=1 i
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}"
  COMPREPLY=()
  case "${{COMP_WORDS[0]##*/}}" in
    python*) first=1; [[ $COMP_CWORD -gt 1 && "${{COMP_WORDS[1]##*/}}" == main.py ]] || return 0;;
  esac
  if [[ "$cur" == = ]]; then
    cur=''
  elif [[ "$prev" == = ]]; then
    prev="${{COMP_WORDS[COMP_CWORD-2]}}"
  fi
  for ((i = first + 1; i < COMP_CWORD; i++)); do
    word="${{COMP_WORDS[i]}}"
    case "$word" in
      {"|".join(COMMANDS)}) [[ -n "$command" ]] || command="$word";;
      {"|".join(BENCH_KINDS)}) [[ "$command" == bench ]] && kind="$word";;
      {"|".join(TREE_KINDS)}) [[ "$command" == tree ]] && kind="$word";;
    esac
  done
  case "$prev" in
{cases}
  esac
  if [[ -n "$words" || $files == 1 ]]; then
    :
  elif [[ "$cur" == -* ]]; then
    case "${{command:-view}}" in
{by_command}
    esac
    [[ -n "$command" ]] || words="$words --completion"
  elif [[ "$command" == bench && -z "$kind" ]]; then
    words='{" ".join(BENCH_KINDS)}'
  elif [[ "$command" == tree && -z "$kind" ]]; then
    words='{" ".join(TREE_KINDS)}'
  elif [[ "$command" == doctor ]]; then
    return 0
  else
    files=1
    [[ -n "$command" ]] || words='{" ".join(COMMANDS)}'
  fi
  local IFS=$'\\n'
  COMPREPLY=($(IFS=' '; compgen -W "$words" -- "$cur"))
  if [[ $files == 1 ]]; then
    COMPREPLY+=($(compgen -f -- "$cur"))
    compopt -o filenames 2>/dev/null
  fi
  [[ $space == 1 ]] || compopt -o nospace 2>/dev/null
  return 0
}}
complete -o bashdefault -o default -F _raygrove {programs}
"""


def _zsh() -> str:
    """zsh reads the same script: it has bash's completion as a module."""
    body = _bash().split("\n", 1)[1]
    start = "autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n"
    return f"# Completion of Raygrove for zsh. Use: source <({typed()} --completion zsh)\n{start}{body}"


# -- fish ----------------------------------------------------------------------------------------------------------
def _fish() -> str:
    lines = [
        f"# Completion of Raygrove for fish. Use: {typed()} --completion fish | source",
        "function __raygrove_words",
        "  set -l typed (commandline -opc)",
        "  string match -qr '(^|/)python[0-9.]*$' -- $typed[1]; and set -e typed[1]",
        "  string match -qr '(^|/)(main.py|raygrove)$' -- $typed[1]; or return 1",
        "  printf '%s\\n' $typed[2..]",
        "end",
        "function __raygrove_command",
        "  set -l typed (__raygrove_words); or return 1",
        f"  for word in $typed; contains -- $word {' '.join(COMMANDS)}; and echo $word; and return 0; end",
        "  echo view",
        "end",
        "function __raygrove_in; contains -- (__raygrove_command) $argv; end",
        "function __raygrove_first; set -l typed (__raygrove_words); or return 1; test (count $typed) -eq 0; end",
    ]
    for program in ("raygrove", "python", "python3", "main.py"):
        start = f"complete -c {program}"
        lines.append(f"{start} -n __raygrove_first -a '{' '.join(COMMANDS)}'")
        lines.append(f"{start} -n __raygrove_first -x -l completion -a '{' '.join(SHELLS)}'")
        lines.append(f"{start} -n '__raygrove_in bench' -a '{' '.join(BENCH_KINDS)}'")
        lines.append(f"{start} -n '__raygrove_in tree' -a '{' '.join(TREE_KINDS)}'")
        lines += [f"{start} {line}" for line in _fish_flags()]
    return "\n".join(lines) + "\n"


def _fish_flags() -> Iterator[str]:
    of_commands: dict[str, list[str]] = {}
    actions: dict[str, argparse.Action] = {}
    for command in COMMANDS:
        for flag, action in flags(command).items():
            of_commands.setdefault(flag, []).append(command)
            actions[flag] = action
    settings = [f"{key}={value}" for key in keys() for value in values(key) or ("",)]
    words = flag_values() | {"--set": tuple(settings)}
    for flag, commands in of_commands.items():
        name = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
        takes = "" if actions[flag].nargs == 0 else " -r" if flag in FILE_FLAGS else " -x"
        offered = f" -a '{' '.join(words[flag])}'" if flag in words else ""
        sentence = (actions[flag].help or "").replace("%%", "%").replace("\\", "\\\\").replace("'", "\\'")
        yield f"-n '__raygrove_in {' '.join(commands)}' {name}{takes}{offered} -d '{sentence}'"
