# SPDX-License-Identifier: BSD-3-Clause
# Completion of hilock in bash.
_hilock()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} i options common='--url --json --tls-ca --tls-cert --tls-key'
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W 'run status break watch doctor --help --version' -- "$word")
        return
    fi
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[1]} == run && ${COMP_WORDS[i]} == -- ]]; then # a command, and what it takes
            if declare -F _command_offset >/dev/null; then
                _command_offset $((i + 1))
            elif ((COMP_CWORD == i + 1)); then
                mapfile -t COMPREPLY < <(compgen -c -- "$word")
            else
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
            fi
            return
        fi
    done
    case $before in
        --tls-ca | --tls-cert | --tls-key) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
        --wait | --lease | --grace | --at-least | --every) mapfile -t COMPREPLY < <(compgen -W '500ms 1s 10s 30s 1m 10m 1h' -- "$word"); return ;;
        --url | --holder | --prefix | --permits) return ;;
    esac
    case ${COMP_WORDS[1]} in
        run) options="$common --wait --try --forever --lease --grace --at-least --fair --simple --multi --readers --permits --verbose --quiet --" ;;
        status) options="$common --prefix --simple --long" ;;
        watch) options="$common --prefix --simple --every --long" ;;
        break) options="$common --holder --simple" ;;
        doctor) options="$common --prefix" ;;
        *) return ;;
    esac
    [[ $word != -* ]] || mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
}
complete -F _hilock hilock
