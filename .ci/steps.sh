# SPDX-License-Identifier: BSD-3-Clause
# steps.sh - sourced by run: steps of lanes, side by side, what came of them, and the summary at the end, however that comes about.
# Needs of run: $lanes, which were asked for, $limit_s, $warm_s, $cold_s, and budgets.

work=$(mktemp -d "${TMPDIR:-/tmp}/hilock-ci.XXXXXX")
chmod 755 "$work" # servers in tests may drop rights
results=$work/results # "outcome<TAB>lane<TAB>test<TAB>reason" a line
times=$work/times     # "lane<TAB>step<TAB>seconds<TAB>seconds of a processor" a line
shared=$work/shared   # a folder that tests in a root see, too (.ci/enter)
places=$shared/places # of the pool
mkdir -m 755 "$shared"
export shared
touch "$results" "$times"
beside=() # process groups in the background
elsewhere=() # folders that go with $work

finish() {
    local status=$? passed failed skipped
    trap - EXIT
    ((${#beside[@]} == 0)) || kill -- "${beside[@]/#/-}" 2>/dev/null || true
    ((status == 0)) || record failed run "ended early" "exit status $status"
    printf '\n== summary (%d s; budget %d s, %d s without a cache)\n' "$SECONDS" "$warm_s" "$cold_s"
    tell_times
    python3 .ci/alone.py <"$results" || true
    grep -v '^passed' "$results" | sort | awk -F'\t' '{ print $1 ": " $2 ": " $3 ($4 ? " (" $4 ")" : "") }' || true
    passed=$(grep -c '^passed' "$results") || true
    failed=$(grep -c '^failed' "$results") || true
    skipped=$(grep -c '^skipped' "$results") || true
    rm -rf --one-file-system "$work" "${elsewhere[@]}"
    echo "$passed passed, $failed failed, $skipped skipped"
    exit $((failed > 0))
}
trap finish EXIT
trap 'exit 130' INT TERM

tell_times() {
    local lane cost
    awk -F'\t' '{ of[$1] = of[$1] sprintf("%s%s %d s (%d s of a processor)", of[$1] ? ", " : "", $2, $3, $4); all += $4 }
        END { for (lane in of) print "time of lane " lane ": " of[lane]; print "time of all lanes: " int(all) " s of a processor" }' "$times" | sort
    for lane in "${!budgets[@]}"; do
        cost=$(awk -F'\t' -v lane="$lane" '$1 == lane && $2 != "build" { cost += $4 } END { print int(cost) }' "$times")
        ((cost <= 2 * ${budgets[$lane]})) || echo "over budget: the tests of lane $lane cost $cost s of a processor, where ${budgets[$lane]} s are planned"
    done
}

record() { printf '%s\t%s\t%s\t%s\n' "$@" >>"$results"; }
left_s() { local left=$((limit_s - SECONDS)); echo $((left > 60 ? left : 60)); }
alone() { flock "$work" "$@"; } # one step at a time

# pool N: N tests may wait at a time, in all lanes
pool() {
    mkfifo -m 666 "$places"
    exec 8<>"$places" # or what is written would be lost while nobody reads
    printf '%*s' "$1" '' >&8
}

# wanted LANE...: was one of them asked for?
wanted() {
    local lane
    for lane; do [[ " ${lanes[*]} " != *" $lane "* ]] || return 0; done
    return 1
}

# perform LANE NAME COMMAND...: in a subshell that stops at the first command that fails; what stops it before its tests counts as one failure. Several
# steps print, so what it prints is seen when it is over. Sets performed, its status.
perform() {
    local lane=$1 name=$2 began=$SECONDS log=$work/$1-$2.log
    echo "-- $lane: $name (begins $began s since start)"
    set +e
    (
        set -e
        trap "times >'$work/$lane-$name.times'" EXIT # of its children, on the second line
        trap 'exit 130' INT TERM
        "${@:3}"
    ) >"$log" 2>&1
    performed=$?
    set -e
    ((performed == 0)) || record failed "$lane" "$name" "exit status $performed, see above"
    printf '%s\t%s\t%d\t%d\n' "$lane" "$name" $((SECONDS - began)) "$(cost_s "$work/$lane-$name.times")" >>"$times"
    { printf '\n== lane %s: %s (%d s since start, took %d s)\n' "$lane" "$name" "$SECONDS" $((SECONDS - began)); cat "$log"; } | alone cat
}

# cost_s TIMES: what the children of a shell cost, which wrote that
cost_s() { awk -F'[ms ]+' 'NR == 2 { print int($1 * 60 + $2 + $3 * 60 + $4) }' "$1"; }

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
        ((SECONDS < limit_s)) || { echo "there is no build of $1 yet, and no time left"; return 1; }
        sleep 0.2
    done
    ((SECONDS == began)) || echo "waited $((SECONDS - began)) s for the build of $1"
    [[ $(<"$work/built.$1") == 0 ]] || { echo "not run: the build of $1 failed"; return 1; }
}

# in_background COMMAND: a track of its own, in a process group, which ends with this run
in_background() {
    set -m
    "$@" &
    beside+=("$!")
    set +m
}
