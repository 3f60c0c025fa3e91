// What a test of an application in Node does with a server of its own: it starts cqld, the binary that CQLD names, moves
// the clock over a TTL, has requests fail in every way, and goes back to a snapshot.
'use strict';

const assert = require('node:assert/strict');
const {spawn, spawnSync} = require('node:child_process');
const net = require('node:net');
const cassandra = require('cassandra-driver');

const {responseErrorCodes, consistencies, Duration} = cassandra.types;

function freePort() {
  return new Promise((resolve, reject) => {
    const s = net.createServer();
    s.on('error', reject);
    s.listen(0, '127.0.0.1', () => {
      const {port} = s.address();
      s.close(() => resolve(port));
    });
  });
}

// start starts cqld on a free port, and returns the process and the address once it answers.
async function start() {
  const binary = process.env.CQLD;
  const address = `127.0.0.1:${await freePort()}`;
  const args = ['serve', '--memory', '--test-controls', '--log-level', 'error', '--listen', address];
  const server = spawn(binary, args, {stdio: 'inherit'});
  while (spawnSync(binary, ['ping', address]).status !== 0) {
    assert.equal(server.exitCode, null, 'cqld has ended');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return {server, address};
}

// expire moves the clock over the TTL of a row.
async function expire(client) {
  await client.execute("INSERT INTO shop.carts (id, item) VALUES (1, 'tea') USING TTL 3600");
  const read = () => client.execute('SELECT item FROM shop.carts WHERE id = 1');
  assert.equal((await read()).first().item, 'tea');
  await client.execute("UPDATE cqld_control.clock SET advance = ? WHERE key = 'local'",
    [Duration.fromString('61m')], {prepare: true});
  assert.equal((await read()).first(), null);
  await client.execute("DELETE FROM cqld_control.clock WHERE key = 'local'");
}

const select = 'SELECT * FROM shop.carts WHERE id = 1';
const insert = 'INSERT INTO shop.carts (id) VALUES (2)';

// What a fault is made of, the statement that meets it, and the fields of the error.
const faults = [
  [{act: 'unavailable', level: 'EACH_QUORUM', required: 4, alive: 1}, select,
    {code: responseErrorCodes.unavailableException, consistencies: consistencies.eachQuorum, required: 4, alive: 1}],
  [{act: 'read_timeout', block_for: 2, received: 1, data_present: true}, select,
    {code: responseErrorCodes.readTimeout, consistencies: consistencies.localOne, received: 1, blockFor: 2,
      isDataPresent: 1}],
  [{act: 'write_timeout', block_for: 3, received: 2, write_type: 'BATCH_LOG'}, insert,
    {code: responseErrorCodes.writeTimeout, received: 2, blockFor: 3, writeType: 'BATCH_LOG'}],
  [{act: 'read_failure', block_for: 2, received: 1, reasons: {'127.0.0.2': 1}}, select,
    {code: responseErrorCodes.readFailure, received: 1, blockFor: 2, failures: 1}],
  [{act: 'write_failure', reasons: {'127.0.0.2': 0, '127.0.0.3': 2}}, insert,
    {code: responseErrorCodes.writeFailure, received: 0, blockFor: 1, failures: 2, writeType: 'SIMPLE'}],
  [{act: 'overloaded'}, select, {code: responseErrorCodes.overloaded}],
  [{act: 'is_bootstrapping'}, select, {code: responseErrorCodes.isBootstrapping}],
  [{act: 'truncate_error', kind: 'truncate'}, 'TRUNCATE shop.carts', {code: responseErrorCodes.truncateError}],
  [{act: 'server_error', message: 'disk on fire'}, select,
    {code: responseErrorCodes.serverError, message: 'disk on fire'}],
];

// insertFault puts a rule in force for the tables of keyspace shop.
async function insertFault(client, columns) {
  const all = {name: 'fault', keyspace_name: 'shop', ...columns};
  const names = Object.keys(all);
  const values = names.map((n) => n === 'reasons' ? Object.fromEntries(Object.entries(all[n])) : all[n]);
  await client.execute(
    `INSERT INTO cqld_control.faults (${names}) VALUES (${names.map(() => '?')})`, values, {prepare: true});
}

// inner is the error of the only node: the driver has looked for others.
function inner(error) {
  return error.innerErrors ? Object.values(error.innerErrors)[0] : error;
}

// fail has a statement meet each fault.
async function fail(client) {
  for (const [columns, statement, fields] of faults) {
    await insertFault(client, columns);
    await assert.rejects(client.execute(statement), (error) => {
      const got = inner(error);
      for (const [name, value] of Object.entries(fields)) {
        assert.deepEqual(got[name], value, `${columns.act}: ${name} of ${got}`);
      }
      return true;
    });
    const rule = (await client.execute("SELECT acted FROM cqld_control.faults WHERE name = 'fault'")).first();
    assert(rule.acted >= 1, `${columns.act}: ${rule.acted}`);
    await client.execute('TRUNCATE cqld_control.faults');
  }
  await insertFault(client, {delay: Duration.fromString('30s')});
  await assert.rejects(client.execute(select, [], {readTimeout: 300}), cassandra.errors.OperationTimedOutError);
  await client.execute('TRUNCATE cqld_control.faults');
}

// goBack takes a snapshot and restores it; a statement that was prepared before stays so.
async function goBack(client) {
  const write = (i) => client.execute('INSERT INTO shop.carts (id, item) VALUES (?, ?)', [i, 'tea'], {prepare: true});
  const count = async () => (await client.execute('SELECT id FROM shop.carts')).rowLength;
  await client.execute("INSERT INTO cqld_control.snapshots (name) VALUES ('start')");
  const before = await count();
  for (let i = 100; i < 110; i++) {
    await write(i);
  }
  assert.equal(await count(), before + 10);
  await client.execute('UPDATE cqld_control.snapshots SET restore = true WHERE name = ?', ['start'], {prepare: true});
  assert.equal(await count(), before);
  await write(100);
}

async function main() {
  const {server, address} = await start();
  try {
    const client = new cassandra.Client({
      contactPoints: [address], localDataCenter: 'datacenter1',
      policies: {retry: new cassandra.policies.retry.FallthroughRetryPolicy()},
    });
    await client.execute(
      "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    await client.execute('CREATE TABLE shop.carts (id int PRIMARY KEY, item text)');
    for (const step of [expire, fail, goBack]) {
      await step(client);
    }
    await client.shutdown();
  } finally {
    server.kill();
  }
  console.log('node with controls: ok');
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
