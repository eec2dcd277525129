# SPDX-License-Identifier: BSD-3-Clause
# steps.sh - sourced by run: steps of lanes, on two tracks, what came of them, and the summary at the end, however that comes about.
# Needs of run: $lanes, which were asked for, and $budget_s.

work=$(mktemp -d "${TMPDIR:-/tmp}/hilock-ci.XXXXXX")
chmod 755 "$work" # servers in tests may drop rights
results=$work/results # "outcome<TAB>lane<TAB>test<TAB>reason" a line
times=$work/times     # "lane<TAB>step, seconds" a line
touch "$results" "$times"
beside= # the process group of the track in the background
inside= # a folder elsewhere that goes with $work

finish() {
    local status=$? passed failed skipped
    trap - EXIT
    [[ -z $beside ]] || kill -- "-$beside" 2>/dev/null || true
    ((status == 0)) || record failed run "ended early" "exit status $status"
    printf '\n== summary (%d s)\n' "$SECONDS"
    awk -F'\t' '{ of[$1] = of[$1] (of[$1] ? ", " : "") $2 } END { for (lane in of) print "time of lane " lane ": " of[lane] }' "$times" | sort
    python3 .ci/alone.py <"$results" || true
    grep -v '^passed' "$results" | sort | awk -F'\t' '{ print $1 ": " $2 ": " $3 ($4 ? " (" $4 ")" : "") }' || true
    passed=$(grep -c '^passed' "$results") || true
    failed=$(grep -c '^failed' "$results") || true
    skipped=$(grep -c '^skipped' "$results") || true
    rm -rf --one-file-system "$work" ${inside:+"$inside"}
    echo "$passed passed, $failed failed, $skipped skipped"
    exit $((failed > 0))
}
trap finish EXIT
trap 'exit 130' INT TERM

record() { printf '%s\t%s\t%s\t%s\n' "$@" >>"$results"; }
left_s() { local left=$((budget_s - SECONDS)); echo $((left > 60 ? left : 60)); }
alone() { flock "$work" "$@"; } # one track at a time

# wanted LANE...: was one of them asked for?
wanted() {
    local lane
    for lane; do [[ " ${lanes[*]} " != *" $lane "* ]] || return 0; done
    return 1
}

# perform LANE NAME COMMAND...: in a subshell that stops at the first command that fails; what stops it before its tests counts as one failure. Two
# tracks print, so what it prints is seen when it is over. Sets performed, its status.
perform() {
    local lane=$1 name=$2 began=$SECONDS log=$work/$1-$2.log
    echo "-- $lane: $name (begins $began s since start)"
    set +e
    (
        set -e
        trap - EXIT
        trap 'exit 130' INT TERM
        "${@:3}"
    ) >"$log" 2>&1
    performed=$?
    set -e
    ((performed == 0)) || record failed "$lane" "$name" "exit status $performed, see above"
    printf '%s\t%s %d s\n' "$lane" "$name" $((SECONDS - began)) >>"$times"
    { printf '\n== lane %s: %s (%d s since start, took %d s)\n' "$lane" "$name" "$SECONDS" $((SECONDS - began)); cat "$log"; } | alone cat
}

# step LANE NAME COMMAND...: if that lane was asked for
step() { if wanted "$1"; then perform "$@"; fi; }

# build NAME "LANE LANE..." COMMAND...: if one of these lanes was asked for, which will say `needs NAME`
build() {
    local for_lanes
    read -ra for_lanes <<<"$2"
    wanted "${for_lanes[@]}" || return 0
    perform "$1" build "${@:3}"
    echo "$performed" >"$work/built.$1"
}

# needs NAME: waits for that build
needs() {
    local began=$SECONDS
    until [[ -s $work/built.$1 ]]; do
        ((SECONDS < budget_s)) || { echo "there is no build of $1 yet, and no time left"; return 1; }
        sleep 0.2
    done
    ((SECONDS == began)) || echo "waited $((SECONDS - began)) s for the build of $1"
    [[ $(<"$work/built.$1") == 0 ]] || { echo "not run: the build of $1 failed"; return 1; }
}

# in_background COMMAND: a track of its own, served after the other, if not last of all on this machine. In a process group, which ends with this run
in_background() {
    set -m
    { renice -n 5 -p "$BASHPID" >/dev/null; "$@"; } &
    beside=$!
    set +m
}
