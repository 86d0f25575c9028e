#!/usr/bin/env bash
# same_answer_on_any_number_of_ranks.sh PHAZE MPIRUN: threads and MPI processes find the same, write the same database,
# and stop together.
set -euo pipefail
. "$(dirname "$0")/common"
mpirun=$2
ranks() { "$mpirun" --allow-run-as-root --oversubscribe -n "$1" "$phaze" "${@:2}"; }

expected=$("$phaze" "${arguments[@]}" --threads 1 | without_time)
for threads in 2 4; do
  diff <(echo "$expected") <("$phaze" "${arguments[@]}" --threads $threads | without_time) || fail "$threads threads differ"
done
for n in 1 2 3; do
  diff <(echo "$expected") <(ranks $n "${arguments[@]}" --out "$folder/$n.db" | without_time) || fail "$n ranks differ"
done
diff <(echo "$expected") <(ranks 2 "${arguments[@]}" --threads 2 | without_time) || fail "2 ranks of 2 threads differ"
diff <("$phaze" "${with_proof[@]}" | without_time) <(ranks 3 "${with_proof[@]}" | without_time) || fail "3 ranks prove something else"

# One database, whoever goes on with it.
diff <(echo "$expected") <("$phaze" "${arguments[@]}" --out "$folder/3.db" --resume | without_time) ||
  fail "a database of 3 ranks is not resumed by one process"

# Interrupted, all ranks end, and what was found is kept.
ranks 2 "${arguments[@]}" --exhaustive --out "$folder/stopped.db" >/dev/null 2>&1 &
process=$!
sleep 0.7
kill -INT $process
wait $process 2>/dev/null || true
diff <("$phaze" "${arguments[@]}" --exhaustive | without_time) \
  <("$phaze" "${arguments[@]}" --exhaustive --out "$folder/stopped.db" --resume | without_time) ||
  fail "a search that was interrupted on 2 ranks is not resumed"

# An error is said once and ends all.
status=0
ranks 3 search no-such-model --devices 8 --global-batch 8 >"$folder/answer" 2>"$folder/errors" || status=$?
[[ $status == 2 ]] || fail "bad input on 3 ranks ends with $status"
[[ $(grep -c "no-such-model" "$folder/errors") == 1 ]] || fail "an error on 3 ranks is not said once: $(cat "$folder/errors")"
[[ ! -s $folder/answer ]] || fail "bad input has an answer"

# What runs in one process says so, once, and leaves no file.
status=0
ranks 3 compare bert-base --devices 8 --global-batch 8 --out "$folder/compared.db" >"$folder/answer" 2>"$folder/errors" || status=$?
[[ $status == 2 ]] || fail "a comparison on 3 ranks ends with $status"
[[ $(grep -c "phaze compare: runs in one process, not in 3" "$folder/errors") == 1 ]] ||
  fail "that it does not run on 3 ranks is not said once: $(cat "$folder/errors")"
[[ ! -s $folder/answer && ! -e $folder/compared.db ]] || fail "a comparison on 3 ranks leaves something"
