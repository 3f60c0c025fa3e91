// Has statements meet each fault of ../faults.json, and checks that the driver's error is its own kind with the right
// fields, and that what was to be applied is applied. CQL_ADDR is a cqld with --test-controls. FAULTS is the table, if it
// is elsewhere.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const {isDeepStrictEqual} = require('node:util');
const cassandra = require('cassandra-driver');

const {responseErrorCodes, consistencies, consistencyToString} = cassandra.types;
const {ResponseError, OperationTimedOutError, NoHostAvailableError} = cassandra.errors;

const level = (error) => consistencyToString[error.consistencies];
const answers = (error) => ({level: level(error), received: error.received, block_for: error.blockFor});

// The kinds of errors in the words of the table, with their fields. The driver speaks version 4 of the protocol, in
// which failures have a number and no reasons, and CAS_WRITE_UNKNOWN is a write timeout of type CAS.
const kinds = {
  [responseErrorCodes.unavailableException]: (e) =>
    ({kind: 'unavailable', level: level(e), required: e.required, alive: e.alive}),
  [responseErrorCodes.readTimeout]: (e) =>
    ({kind: 'read_timeout', ...answers(e), data_present: e.isDataPresent === 1}),
  [responseErrorCodes.writeTimeout]: (e) => ({kind: 'write_timeout', ...answers(e), write_type: e.writeType}),
  [responseErrorCodes.readFailure]: (e) =>
    ({kind: 'read_failure', ...answers(e), failures: e.failures, data_present: e.isDataPresent === 1}),
  [responseErrorCodes.writeFailure]: (e) =>
    ({kind: 'write_failure', ...answers(e), failures: e.failures, write_type: e.writeType}),
  [responseErrorCodes.overloaded]: () => ({kind: 'overloaded'}),
  [responseErrorCodes.isBootstrapping]: () => ({kind: 'is_bootstrapping'}),
  [responseErrorCodes.truncateError]: () => ({kind: 'truncate_error'}),
  [responseErrorCodes.serverError]: (e) => ({kind: 'server_error', message: e.message}),
  [responseErrorCodes.invalid]: (e) => ({kind: 'invalid', message: e.message}),
  [responseErrorCodes.syntaxError]: (e) => ({kind: 'syntax_error', message: e.message}),
  [responseErrorCodes.unauthorized]: (e) => ({kind: 'unauthorized', message: e.message}),
  [responseErrorCodes.configError]: (e) => ({kind: 'config_error', message: e.message}),
};

// describe returns an error in the words of the table.
function describe(error) {
  const got = error instanceof NoHostAvailableError ? Object.values(error.innerErrors)[0] : error;
  if (got instanceof ResponseError && kinds[got.code]) {
    return kinds[got.code](got);
  }
  if (got instanceof OperationTimedOutError) {
    return {kind: 'timeout'};
  }
  if (got.isSocketError) {
    return {kind: 'closed'};
  }
  if (got instanceof RangeError) { // of the driver's reader
    return {kind: 'malformed'};
  }
  return {kind: `${got.name}: ${got.message}`};
}

// expected returns what describe is to return for an error of the table.
function expected(error) {
  if (!error) {
    return undefined;
  }
  const {reasons, ...shown} = error;
  if (shown.kind === 'cas_write_unknown') {
    return {...shown, kind: 'write_timeout', write_type: 'CAS'};
  }
  return shown;
}

// losesConnection are the kinds of errors behind which the driver is without its connection for a while.
const losesConnection = ['closed', 'malformed', 'timeout'];

// meet has a statement of a client meet a fault, and returns what is wrong. controls has connections that no fault ends.
async function meet(client, controls, {fault, statement, error, applied, takes}, number, prepare) {
  const text = statement.replace('$id', number);
  const rule = JSON.stringify({name: 'node', keyspace_name: 'faults_node', ...fault});
  await controls.execute(`INSERT INTO cqld_control.faults JSON '${rule}' DEFAULT UNSET`);
  const began = performance.now();
  const readTimeout = error?.kind === 'timeout' ? 1000 : 30000;
  const got = await client.execute(text, [], {prepare, readTimeout}).then(() => undefined, describe);
  const took = performance.now() - began;
  const wrong = [];
  const want = expected(error);
  if (!isDeepStrictEqual(got, want)) {
    wrong.push(`the error is ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  }
  const {acted} = (await controls.execute("SELECT acted FROM cqld_control.faults WHERE name = 'node'")).first();
  if (acted < 1 && (prepare || fault.act !== 'unprepared')) {
    wrong.push('the rule has not acted');
  }
  await controls.execute("DELETE FROM cqld_control.faults WHERE name = 'node'");
  if (took < takes) {
    wrong.push(`it took ${took} ms`);
  }
  const present = (await controls.execute(`SELECT id FROM faults_node.t WHERE id = ${number}`)).rowLength === 1;
  if (applied !== undefined && present !== applied) {
    wrong.push(`applied: ${present}`);
  }
  return wrong;
}

async function main() {
  const table = JSON.parse(fs.readFileSync(process.env.FAULTS || path.join(__dirname, '..', 'faults.json'), 'utf8'));
  const options = {
    contactPoints: [process.env.CQL_ADDR], localDataCenter: 'datacenter1',
    queryOptions: {consistency: consistencies.localQuorum},
    policies: {
      retry: new cassandra.policies.retry.FallthroughRetryPolicy(),
      reconnection: new cassandra.policies.reconnection.ConstantReconnectionPolicy(10),
    },
  };
  const controls = new cassandra.Client(options);
  await controls.execute('DROP KEYSPACE IF EXISTS faults_node');
  await controls.execute(
    "CREATE KEYSPACE faults_node WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  await controls.execute('CREATE TABLE faults_node.t (id int PRIMARY KEY)');
  const connect = () => new cassandra.Client({...options, keyspace: 'faults_node'});
  let client = connect();
  let failed = 0;
  for (const [i, row] of table.entries()) {
    for (const prepare of [false, true]) {
      await client.connect();
      for (const wrong of await meet(client, controls, row, 2 * i + prepare, prepare)) {
        failed++;
        console.log(`${JSON.stringify(row.fault)}, prepared ${prepare}: ${wrong}`);
      }
      if (losesConnection.includes(row.error?.kind)) {
        client = connect();
      }
    }
  }
  if (failed === 0) {
    console.log(`node: ${table.length} faults, ok`);
  }
  process.exit(failed === 0 ? 0 : 1); // the driver's shutdown would wait for connections that were dropped
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
