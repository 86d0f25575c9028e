#!/usr/bin/env bash
# kill_and_resume.sh PHAZE [KILLS]: a search that is killed without warning at random moments and resumed ends with the
# same answer, counts included, as one that ran through.
set -euo pipefail
kills=${2:-20}
. "$(dirname "$0")/common"
database=$folder/run.db

# kill_some KILLS ARGUMENTS...
kill_some() {
  local begun=$EPOCHREALTIME expected microseconds killed=0 process moment status
  expected=$("$phaze" "${@:2}" | without_time)
  microseconds=$((${EPOCHREALTIME/./} - ${begun/./}))
  same() { diff <(echo "$expected") <(without_time) || fail "after $killed kills: $1"; }
  while ((killed < $1)); do
    "$phaze" "${@:2}" --out "$database" --resume >"$folder/answer" 2>"$folder/errors" &
    process=$!
    moment=$((RANDOM * microseconds / 32768))
    sleep "$((moment / 1000000)).$(printf %06d $((moment % 1000000)))"
    kill -9 $process 2>/dev/null || true
    status=0
    wait $process 2>/dev/null || status=$?
    if [[ $status == 137 ]]; then
      killed=$((killed + 1))
      # Most runs are killed more than once.
      ((killed % 4 == 0 || killed == $1)) || continue
      "$phaze" "${@:2}" --out "$database" --resume | same "the answer is another one"
    elif [[ $status == 0 ]]; then
      same "the answer is another one" <"$folder/answer"
    else
      fail "a process ended with $status: $(cat "$folder/errors")"
    fi
    "$phaze" "${@:2}" --out "$database" --resume | same "a finished run gives another answer when it is resumed"
    rm -f "$database" "$database"-*
  done
}

kill_some $((kills - kills / 4)) "${arguments[@]}" --objective pareto
kill_some $((kills / 4)) "${with_proof[@]}"
