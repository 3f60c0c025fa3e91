"""A plugin of pytest for the tests of the Python driver.

Many of their files import ccmlib, which starts and stops nodes, although few of their tests use it when they are
given a node that runs already. This gives them names to import, and no node.
"""

import sys
import types

NAMES = {
    "cluster": "Cluster",
    "cluster_factory": "ClusterFactory",
    "common": None,
    "dse_cluster": "DseCluster",
    "hcd_cluster": "HcdCluster",
}


def stand_in(name):
    module = types.ModuleType(name)
    sys.modules[name] = module
    return module


ccmlib = stand_in("ccmlib")
for part, cluster in NAMES.items():
    module = stand_in("ccmlib." + part)
    if cluster:
        setattr(module, cluster, type(cluster, (), {}))
    setattr(ccmlib, part, module)
