#!/usr/bin/env bash
# ranks_without_memory.sh PHAZE MPIRUN: whatever memory one rank has, a job ends: with its answer, or with one message
# that says what was missing. Some limits are met while the problem is read, others while the search begins.
set -euo pipefail
. "$(dirname "$0")/common"
mpirun=$2

# So many chips that they take more memory than all else.
cat >"$folder/space.yaml" <<'SPACE'
dimensions:
  tensor_cores: {powers_of_two: [1, 4096]}
  vector_cores: {powers_of_two: [1, 4096]}
  rows: {powers_of_two: [2, 256]}
  cols: {from: 2, to: 256, step: 2}
  glb: {powers_of_two: [2MiB, 128MiB]}
limits:
  area: tpuv4-phaze
  min_area_share: 0.3
SPACE
search=("$phaze" search bert-base --space "$folder/space.yaml" --devices 8 --global-batch 8 --seq 128
        --tensor-parallel 1 --microbatch 1 --effort 0 --time-limit 0.1)

for rank in 0 1; do
  short=0
  for megabytes in 300 550 1600; do
    limits=(unlimited unlimited)
    limits[rank]=$((megabytes * 1024))
    parts=()
    for limit in "${limits[@]}"; do
      parts+=(: -n 1 bash -c "ulimit -v $limit; exec \"\$@\"" - "${search[@]}")
    done
    status=0
    timeout 60 "$mpirun" --allow-run-as-root --oversubscribe "${parts[@]:1}" >"$folder/answer" 2>"$folder/errors" || status=$?
    case $status in
      0) [[ -s $folder/answer ]] || fail "rank $rank with $megabytes MB: there is no answer" ;;
      2)
        short=$((short + 1))
        said=$(grep -c "phaze: error: .*not enough memory" "$folder/errors" || true)
        [[ $said == 1 ]] || fail "rank $rank with $megabytes MB: said $said times: $(cat "$folder/errors")"
        [[ $rank == 0 ]] || grep -q "rank $rank: not enough memory" "$folder/errors" || fail "the rank is not named"
        ;;
      *) fail "rank $rank with $megabytes MB ends with $status: $(cat "$folder/errors")" ;;
    esac
  done
  ((short > 0)) || fail "rank $rank always had enough memory: the space is too small for this test"
done
