#compdef llmc
# SPDX-License-Identifier: Apache-2.0
# zsh completion of llmc. Commands and options are read from --help, so they are always those of the llmc that is installed.

_llmc() {
  local -a words_found
  if (( CURRENT == 2 )); then
    words_found=(${(f)"$(llmc --help 2>/dev/null | sed -n '/^Subcommands:/,$ s/^  \([a-z][a-z-]*\)  *\(.*\)/\1:\2/p')"})
    _describe command words_found
    return
  fi
  case ${words[CURRENT-1]} in
  --target) compadd -- cpu:native cpu:x86-64-v3 cpu:x86-64-v4 cpu:x86-64-v4+vnni+bf16; return ;;
  --quant) compadd -- keep f32 bf16 int8 int4; return ;;
  --kv) compadd -- f32 bf16 int8; return ;;
  --emit) compadd -- import graph schedule tile memory kernel llvm-ir asm so; return ;;
  --from) compadd -- import graph schedule tile memory; return ;;
  esac
  if [[ ${words[CURRENT]} == -* ]]; then
    compadd -- ${(f)"$(llmc ${words[2]} --help 2>/dev/null | grep -o -E -- '(^| |,)--?[a-z][a-z0-9-]*' | tr -d ' ,' | sort -u)"}
  else
    _files
  fi
}

_llmc "$@"
