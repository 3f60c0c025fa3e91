"""Starts the image named by IMAGE with Testcontainers' module for Cassandra, and uses it through the Python driver."""

import os

from cassandra.cluster import Cluster
from testcontainers.community.cassandra import CassandraContainer

with CassandraContainer(os.environ["IMAGE"]) as container:
    with Cluster(container.get_contact_points()) as cluster:
        session = cluster.connect()
        session.execute(
            "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
        )
        session.execute("CREATE TABLE shop.orders (id int PRIMARY KEY, what text)")
        session.execute("INSERT INTO shop.orders (id, what) VALUES (1, 'tea')")
        assert session.execute("SELECT what FROM shop.orders WHERE id = 1").one().what == "tea"
print("python: ok")
