# Completion of weir for bash. Commands and options are asked of the program itself, so
# there is nothing here that could be out of date.

# Sets `expects` to what belongs in the current word: a command, an option, the value
# that an option takes (FILE), or an argument. `$2` is the command, whose options begin
# at word `$3`.
_weir_look() {
    local list=$1 command=$2 i word

    expects=option
    for ((i = $3; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $expects != option ]]; then
            # bash makes a word of the "=" in --settings=FILE.
            [[ $word == "=" ]] || expects=option
        elif [[ $word == -- || $word != -* ]]; then
            expects=argument
            argument_at=$i
            [[ $word == -- ]] && argument_at=$((i + 1))
            return
        else
            expects=$(awk -v c="$command" -v w="$word" \
                '$1 == c && $2 != "." && ($2 == w || $3 == w) { print $4 }' <<<"$list")
            [[ -n $expects && $expects != . ]] || expects=option
        fi
    done
}

_weir_options() {
    awk -v c="$2" '$1 == c && $2 != "." { print $2; if ($3 != ".") print $3 }' <<<"$1"
    printf '%s\n' --help
}

# What belongs in the current word of a command; `$1` to `$3` are as for _weir_look.
_weir_of() {
    local current=${COMP_WORDS[COMP_CWORD]} expects argument_at=$COMP_CWORD

    _weir_look "$@"
    [[ $current == "=" ]] && current=
    case $expects in
    option)
        if [[ $current == -* ]]; then
            mapfile -t COMPREPLY < <(
                compgen -W "$(_weir_options "$1" "$2")" -- "$current")
            return
        fi
        ;;
    argument) ;;
    FILE)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
        ;;
    *) return ;;
    esac
    case $2 in
    help) mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current") ;;
    run | srt)
        # What is run has completions of its own, if bash-completion is there.
        if ((argument_at < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
            _command_offset "$argument_at"
        elif ((argument_at < COMP_CWORD)); then
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
        else
            mapfile -t COMPREPLY < <(compgen -c -- "$current")
        fi
        ;;
    check) mapfile -t COMPREPLY < <(compgen -A hostname -- "$current") ;;
    esac
}

_weir() {
    local list commands

    COMPREPLY=()
    list=$("${COMP_WORDS[0]}" help --list 2>/dev/null) || return
    commands=$(awk '$2 == "." { print $1 }' <<<"$list")
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(
            compgen -W "$commands --help --version" -- "${COMP_WORDS[COMP_CWORD]}")
    else
        _weir_of "$list" "${COMP_WORDS[1]}" 2
    fi
}

# weir, invoked as srt: the whole line is one command, and asking it would run one.
_weir_srt() {
    local list commands=

    COMPREPLY=()
    list=$(weir help --list srt 2>/dev/null) || return
    _weir_of "$list" srt 1
}

complete -F _weir weir
complete -F _weir_srt srt
