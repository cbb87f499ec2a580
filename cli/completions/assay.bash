# bash completion of assay. The command itself says what may follow ("assay complete", cli/common/complete.h).
_assay() {
    local current=${COMP_WORDS[COMP_CWORD]} start line files=()
    [ "$current" != = ] || current=
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :files) compopt -o filenames 2>/dev/null; mapfile -t files < <(compgen -f -- "$current") ;;
            :folders) compopt -o filenames 2>/dev/null; mapfile -t files < <(compgen -d -- "$current") ;;
            :command*)
                start=$((${line#:command } + 1))
                if [ "$start" = "$COMP_CWORD" ]; then
                    mapfile -t files < <(compgen -c -- "$current"; compgen -d -- "$current")
                elif declare -F _command_offset >/dev/null; then
                    _command_offset "$start"
                    return
                else
                    compopt -o filenames 2>/dev/null
                    mapfile -t files < <(compgen -f -- "$current")
                fi ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    COMPREPLY+=("${files[@]}")
}
complete -F _assay assay
