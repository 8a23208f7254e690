# SPDX-License-Identifier: Apache-2.0
# bash completion of llmc. Commands and options are read from --help, so they are always those of the llmc that is installed.

_llmc_words() {
  # Without a command: the commands of `llmc --help`; with one: its options.
  if [ $# -eq 0 ]; then
    llmc --help 2>/dev/null | sed -n '/^Subcommands:/,$ s/^  \([a-z][a-z-]*\) .*/\1/p'
  else
    llmc "$1" --help 2>/dev/null | grep -o -E -- '(^| |,)--?[a-z][a-z0-9-]*' | tr -d ' ,' | sort -u
  fi
}

_llmc() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_llmc_words)" -- "$current")
    return
  fi
  case $previous in
  --target) mapfile -t COMPREPLY < <(compgen -W "cpu:native cpu:x86-64-v3 cpu:x86-64-v4 cpu:x86-64-v4+vnni+bf16" -- "$current") ;;
  --quant) mapfile -t COMPREPLY < <(compgen -W "keep f32 bf16 int8 int4" -- "$current") ;;
  --kv) mapfile -t COMPREPLY < <(compgen -W "f32 bf16 int8" -- "$current") ;;
  --emit) mapfile -t COMPREPLY < <(compgen -W "import graph schedule tile memory kernel llvm-ir asm so" -- "$current") ;;
  --from) mapfile -t COMPREPLY < <(compgen -W "import graph schedule tile memory" -- "$current") ;;
  *)
    if [[ $current == -* ]]; then
      mapfile -t COMPREPLY < <(compgen -W "$(_llmc_words "$command")" -- "$current")
    else
      compopt -o default
    fi
    ;;
  esac
  # bash takes the part before a colon as a word of its own.
  if [[ $current == *:* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*:}"}"}")
  fi
}
complete -F _llmc llmc
