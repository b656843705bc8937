# Completion of weir for fish. Commands and options are asked of the program itself, so
# there is nothing here that could be out of date.

function __weir_list
    command weir help --list 2>/dev/null
end

function __weir_commands
    __weir_list | string match -r '^\S+ \. \. \. .*' | string replace -r '^(\S+) \. \. \. ' '$1\t'
end

complete -c weir -f
complete -c weir -n __fish_use_subcommand -a '(__weir_commands)'
complete -c weir -n __fish_use_subcommand -l version -d 'Print the version'
complete -c weir -s h -l help -d 'Print help'
complete -c weir -n '__fish_seen_subcommand_from help' -a '(__weir_commands)'
complete -c weir -n '__fish_seen_subcommand_from run' -a '(__fish_complete_subcommand)'
complete -c weir -n '__fish_seen_subcommand_from check' -a '(__fish_print_hostnames)'

# srt is weir by another name: its whole line is one command.
complete -c srt -f
complete -c srt -s h -l help -d 'Print help'
complete -c srt -a '(__fish_complete_subcommand)'

for line in (__weir_list) (command weir help --list srt 2>/dev/null)
    set -l fields (string split -m 4 ' ' -- $line)
    test $fields[2] = . && continue
    set -l words -l (string sub -s 3 -- $fields[2]) -d $fields[5]
    test $fields[3] != . && set -a words -s (string sub -s 2 -- $fields[3])
    switch $fields[4]
        case .
        case FILE
            set -a words -r -F
        case '*'
            set -a words -x
    end
    if test $fields[1] = srt
        complete -c srt $words
    else
        complete -c weir -n "__fish_seen_subcommand_from $fields[1]" $words
    end
end
