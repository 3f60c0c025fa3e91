// What an application does with the Node driver, against the server named by CQL_ADDR: connect, define,
// prepare, write 10,000 rows, page through them, see a schema event, USE, and get errors by their code.
// With CQL_CA it connects through TLS, and shows the certificate of CQL_CERT and CQL_KEY if they are set.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const cassandra = require('cassandra-driver');

const keyspace = 'driver_node';
const rows = 10000;
const partitions = 10;
const {responseErrorCodes, protocolVersion} = cassandra.types;

// tls is what the driver needs to speak TLS; undefined: it does not.
function tls() {
  const {CQL_CA, CQL_CERT, CQL_KEY} = process.env;
  if (!CQL_CA) {
    return undefined;
  }
  const own = CQL_CERT ? {cert: fs.readFileSync(CQL_CERT), key: fs.readFileSync(CQL_KEY)} : {};
  return {ca: [fs.readFileSync(CQL_CA)], rejectUnauthorized: true, ...own};
}

function connect(addr, version, options) {
  return new cassandra.Client({
    contactPoints: [addr],
    localDataCenter: 'datacenter1',
    protocolOptions: {maxVersion: version},
    refreshSchemaDelay: 100,
    sslOptions: tls(),
    ...options,
  });
}

async function define(client) {
  await client.execute(`DROP KEYSPACE IF EXISTS ${keyspace}`);
  await client.execute(`CREATE KEYSPACE ${keyspace} WITH replication =
    {'class': 'SimpleStrategy', 'replication_factor': 1}`);
  await client.execute(`CREATE TABLE ${keyspace}.rows (p int, c int, v text, PRIMARY KEY (p, c))`);
}

async function writeRows(client) {
  const all = Array.from({length: rows}, (_, i) => [i % partitions, Math.floor(i / partitions), `value ${i}`]);
  await cassandra.concurrent.executeConcurrent(
    client, `INSERT INTO ${keyspace}.rows (p, c, v) VALUES (?, ?, ?)`, all, {prepare: true});
}

async function readRows(client) {
  const seen = new Set();
  const result = await client.execute(`SELECT p, c, v FROM ${keyspace}.rows`, [], {prepare: true, fetchSize: 100});
  assert.equal(result.rows.length, 100, 'rows of the first page');
  for await (const row of result) {
    const i = row.c * partitions + row.p;
    assert.equal(row.v, `value ${i}`);
    assert(!seen.has(i), `row ${i} came twice`);
    seen.add(i);
  }
  assert.equal(seen.size, rows);
}

// The driver drops what it knows of a table when an event says that the table changed; so a client that
// knew a table to be missing finds it when another one made it.
async function schemaEvent(client, addr, version) {
  assert.equal(await client.metadata.getTable(keyspace, 'seen'), null);
  const other = connect(addr, version, {isMetadataSyncEnabled: false});
  const events = [];
  client.controlConnection.connection.on('nodeSchemaChange', (e) => events.push(e));
  await other.execute(`CREATE TABLE ${keyspace}.seen (k int PRIMARY KEY, v text)`);
  await other.shutdown();
  const deadline = Date.now() + 10000;
  while (!events.some((e) => e.table === 'seen' && e.keyspace === keyspace)) {
    assert(Date.now() < deadline, 'no schema event in 10 s');
    await new Promise((done) => setTimeout(done, 20));
  }
  const table = await client.metadata.getTable(keyspace, 'seen');
  assert.deepEqual(table.columns.map((c) => c.name).sort(), ['k', 'v']);
}

async function use(addr, version) {
  const client = connect(addr, version, {keyspace});
  const select = 'SELECT v FROM rows WHERE p = 3 AND c = 7';
  assert.equal((await client.execute(select)).first().v, 'value 73');
  await client.execute(`USE ${keyspace}`);
  assert.equal((await client.execute(select, [], {prepare: true})).first().v, 'value 73');
  await client.shutdown();
}

async function errors(client) {
  const refused = async (cql, code) => assert.rejects(client.execute(cql), (e) => {
    assert(e instanceof cassandra.errors.ResponseError, `${cql}: ${e}`);
    assert.equal(e.code, code, `${cql}: ${e}`);
    return true;
  });
  await refused('SELEC * FROM rows', responseErrorCodes.syntaxError);
  await refused(`SELECT nope FROM ${keyspace}.rows`, responseErrorCodes.invalid);
  await refused(`CREATE TABLE ${keyspace}.rows (k int PRIMARY KEY)`, responseErrorCodes.alreadyExists);
}

async function smoke(addr, name) {
  const version = protocolVersion[name];
  const client = connect(addr, version);
  await client.connect();
  await define(client);
  await writeRows(client);
  await readRows(client);
  await schemaEvent(client, addr, version);
  await use(addr, version);
  await errors(client);
  await client.execute(`DROP KEYSPACE ${keyspace}`);
  assert.equal(client.controlConnection.protocolVersion, version);
  await client.shutdown();
  console.log(`node cassandra-driver 4.10.0 ${name}: ok`);
}

async function main() {
  assert(process.env.CQL_ADDR, 'CQL_ADDR is not set');
  await smoke(process.env.CQL_ADDR, 'v3');
  await smoke(process.env.CQL_ADDR, 'v4');
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
