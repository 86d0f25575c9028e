#!/usr/bin/env bash
# kill_and_resume.sh PHAZE [KILLS]: a search that is killed without warning at random moments and resumed ends with the
# same answer, counts included, as one that ran through.
set -euo pipefail
phaze=$1
kills=${2:-20}
. "$(dirname "$0")/search_arguments"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
database=$folder/run.db

begun=$EPOCHREALTIME
expected=$("$phaze" "${arguments[@]}" --objective pareto | without_time)
microseconds=$((${EPOCHREALTIME/./} - ${begun/./}))

survived=0
for ((kill = 1; kill <= kills; ++kill)); do
  "$phaze" "${arguments[@]}" --objective pareto --out "$database" --resume >"$folder/answer" 2>"$folder/errors" &
  process=$!
  moment=$((RANDOM * microseconds / 32768))
  sleep "$((moment / 1000000)).$(printf %06d $((moment % 1000000)))"
  kill -9 $process 2>/dev/null || true
  status=0
  wait $process 2>/dev/null || status=$?
  [[ $status == 137 || $status == 0 ]] || fail "a process ended with $status: $(cat "$folder/errors")"
  [[ $status == 0 ]] && survived=$((survived + 1))
  # Now and then the run may end; then another one begins.
  if ((kill % 4 == 0)); then
    answer=$("$phaze" "${arguments[@]}" --objective pareto --out "$database" --resume | without_time)
    diff <(echo "$expected") <(echo "$answer") || fail "after kill $kill the answer is another one"
    again=$("$phaze" "${arguments[@]}" --objective pareto --out "$database" --resume | without_time)
    diff <(echo "$expected") <(echo "$again") || fail "a finished run gives another answer when it is resumed"
    rm -f "$database" "$database"-*
  fi
done
echo "$kills processes, $survived of them ended before they were killed"
((survived < kills)) || fail "nothing was killed: the search is too short for this test"
