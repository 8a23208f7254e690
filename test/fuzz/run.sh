#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh FUZZER SEEDS RUNS: a short run that writes nothing; the same inputs each time. The long timeout is for machines that
# are busy with other tests; hangs are for the long runs to find.
set -eu
seeds=$(find "$2" -type f 2>/dev/null | LC_ALL=C sort | paste -sd, -)
exec "$1" -runs="$3" -seed=1 -max_len=8192 -timeout=300 -rss_limit_mb=1024 -print_final_stats=1 \
  ${seeds:+-seed_inputs="$seeds"} -artifact_prefix="$1-found-"
