#!/usr/bin/env bash
# For a chip architect: the best chip of a small space for one model, by throughput and by throughput per watt.
set -euo pipefail
cat > space.yaml <<'SPACE'
name: small
base: tpuv4-phaze
dimensions:
  tensor_cores: [4, 8, 16]
  rows: {powers_of_two: [64, 256]}
  cols: {equals: rows}
  vector_cores: [2, 4]
  lanes: {equals: rows}
  glb: [32MiB, 128MiB]
limits:
  area: tpuv4-phaze
SPACE
for objective in throughput throughput-per-tdp; do
  echo "== $objective"
  phaze search bert-base --space space.yaml --devices 16 --global-batch 128 --objective "$objective" --json > answer.json
  jq -r '"\(.best.chip.tensor_cores | "\(.count) tensor cores of \(.rows) x \(.cols)"), \(.best.chip.vector_cores | "\(.count) vector cores of \(.lanes) lanes")\nscore \(.score), \(.evaluated) evaluated, \(.pruned) pruned, \(.infeasible) infeasible of \(.space)"' answer.json
  jq -e '.evaluated + .pruned + .infeasible == .space' answer.json > /dev/null   # every chip is accounted for
done
