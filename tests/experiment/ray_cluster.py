"""A Ray cluster of two nodes on this machine, until its input closes. Prints its address and the second node's raylet."""

from __future__ import annotations

import os
import sys

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

from ray.cluster_utils import Cluster

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
second = cluster.add_node(num_cpus=1)
cluster.wait_for_nodes()
print(cluster.address, second.all_processes["raylet"][0].process.pid, flush=True)
sys.stdin.read()
cluster.shutdown()
