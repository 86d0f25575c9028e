#!/usr/bin/env bash
# For a training engineer: the best plan for a model on a cluster, beside a plan by rule of thumb, and how to start it.
set -euo pipefail
common=(llama3-8b --chip h100-sxm --devices 64 --global-batch 512 --attention flash)

phaze place "${common[@]}" --plan best.json
phaze place "${common[@]}" --tensor-parallel 8 --pipeline 1 --data-parallel 8 --plan usual.json > /dev/null
jq -rn --slurpfile best best.json --slurpfile usual usual.json \
  '"\n8-way tensor parallelism takes \($usual[0].time_per_batch / $best[0].time_per_batch * 100 | round) % of the best plan'"'"'s time."'

phaze export best.json --format megatron -o train.sh
phaze export best.json --format torchtitan -o train.toml
phaze export best.json --format perfetto -o trace.json
bash -n train.sh
echo "Start it with: bash train.sh"
