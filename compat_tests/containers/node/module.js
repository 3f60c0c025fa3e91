// Starts the image named by IMAGE with Testcontainers' module for Cassandra, and uses it through the Node driver.
'use strict';

const assert = require('node:assert/strict');
const cassandra = require('cassandra-driver');
const {CassandraContainer} = require('@testcontainers/cassandra');

async function main() {
  const module = new CassandraContainer(process.env.IMAGE).withStartupTimeout(30000);
  const container = await module.start();
  try {
    const client = new cassandra.Client({
      contactPoints: [container.getContactPoint()],
      localDataCenter: container.getDatacenter(),
    });
    try {
      await client.execute(`CREATE KEYSPACE shop WITH replication =
        {'class': 'SimpleStrategy', 'replication_factor': 1}`);
      await client.execute('CREATE TABLE shop.orders (id int PRIMARY KEY, what text)');
      await client.execute("INSERT INTO shop.orders (id, what) VALUES (1, 'tea')");
      const found = await client.execute('SELECT what FROM shop.orders WHERE id = 1');
      assert.equal(found.first().what, 'tea');
    } finally {
      await client.shutdown();
    }
  } finally {
    await container.stop();
  }
  console.log(`node, ${process.env.IMAGE}: ok`);
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
