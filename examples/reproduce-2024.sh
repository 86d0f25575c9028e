#!/usr/bin/env bash
# For a researcher: pieces of the 2024 setting, and two solvers that must agree.
set -euo pipefail
phaze space show phaze --csv > chips.csv
test "$(tail -n +2 chips.csv | wc -l)" = 29360
echo "the space of 2024 has 29,360 chips"

phaze place bert-large --chip tpuv4-phaze --devices 64 --global-batch 512 --microbatch 4 --options phaze

for solver in exact ilp; do
  phaze schedule bert-base --chip tpuv4-phaze --schedule-model phaze --solver "$solver" --time-limit 20s --json > "$solver.json"
done
jq -rn --slurpfile exact exact.json --slurpfile ilp ilp.json '"forward block: \($exact[0].makespan) s exact, \($ilp[0].makespan) s by integer program"'
jq -en --slurpfile exact exact.json --slurpfile ilp ilp.json '$exact[0].makespan <= $ilp[0].makespan * (1 + 1e-6)' > /dev/null
