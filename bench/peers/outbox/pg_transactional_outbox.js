// pg-transactional-outbox beside patra: a handler that counts, checks and takes the time.
//
//     node pg_transactional_outbox.js VARIANT setup | backlog EVENTS KEYS | idle EVENTS KEYS
//
// VARIANT is "default" (polling as documented), "tuned" (polling, the best settings found) or
// "replication". A key is a segment, so that its events are handed on one after the other. The
// database is named by PGHOST, PGPORT, PGUSER and PGDATABASE. Prints a line of JSON.
'use strict';
const { createRequire } = require('node:module');
const outside = createRequire(`${process.env.PEER_MODULES}/`); // where npm has installed them
const { Client } = outside('pg');
const outbox = outside('pg-transactional-outbox');

const EVERY_MS = 20;
const SETTLE_MS = 2000; // the polling listener begins with batches of one
const BACKLOG_MS = 30000;
const IDLE_LEFT_MS = 10000;

const [variant, mode, eventsText, keysText] = process.argv.slice(2);
const events = Number(eventsText);
const keys = Number(keysText);
const connection = {
  host: process.env.PGHOST,
  port: Number(process.env.PGPORT),
  user: process.env.PGUSER,
  database: process.env.PGDATABASE,
};
const names = {
  outboxOrInbox: 'outbox',
  database: connection.database,
  schema: 'public',
  table: 'outbox',
  listenerRole: connection.user,
  publication: 'peers_publication',
  replicationSlot: `peers_${connection.database}`,
  nextMessagesName: 'next_outbox_messages',
};

const now = () => Number(process.hrtime.bigint()) / 1e6;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const versions = new Map();
const committed = [];
const handled = [];
let count = 0;
let wrong = 0;
let allDone;
const done = new Promise((resolve) => {
  allDone = resolve;
});

const handler = {
  handle: async (message) => {
    const key = Number(message.aggregateId.slice(1));
    const version = message.payload.version;
    if (version <= (versions.get(key) ?? 0)) {
      wrong += 1;
      return;
    }
    versions.set(key, version);
    handled[(version - 1) * keys + key] = now();
    count += 1;
    if (count === events) allDone();
  },
};

async function connect() {
  const client = new Client(connection);
  await client.connect();
  return client;
}

async function setup() {
  const client = await connect();
  await client.query(outbox.DatabaseSetup.dropAndCreateTable(names));
  if (variant === 'replication') {
    await client.query(outbox.DatabaseSetup.setupReplicationCore(names));
    await client.query(`SELECT pg_create_logical_replication_slot('${names.replicationSlot}', 'pgoutput')`);
  } else {
    await client.query(outbox.DatabaseSetup.createPollingFunction(names));
    await client.query(outbox.DatabaseSetup.setupPollingIndexes(names));
  }
  await client.end();
}

function listen() {
  const settings = {
    dbSchema: 'public',
    dbTable: 'outbox',
    enableMaxAttemptsProtection: false, // both as its documents have it for an outbox
    enablePoisonousMessageProtection: false,
  };
  const config = { outboxOrInbox: 'outbox', dbListenerConfig: connection, settings };
  const logger = outbox.getDisabledLogger();
  if (variant === 'replication') {
    settings.dbPublication = names.publication;
    settings.dbReplicationSlot = names.replicationSlot;
    return outbox.initializeReplicationMessageListener(config, handler, logger, {
      concurrencyStrategy: outbox.createReplicationSegmentMutexConcurrencyController(),
    })[0];
  }
  settings.nextMessagesFunctionName = names.nextMessagesName;
  if (variant === 'tuned') {
    settings.nextMessagesBatchSize = 20;
    settings.nextMessagesPollingIntervalInMs = 20;
  }
  return outbox.initializePollingMessageListener(config, handler, logger)[0];
}

async function backlog() {
  const from = now();
  listen();
  await Promise.race([done, pause(BACKLOG_MS)]);
  return { events: count, seconds: (now() - from) / 1e3, wrong };
}

async function idle() {
  const client = await connect();
  const body = 'a'.repeat(670);
  listen();
  await pause(SETTLE_MS);
  for (let n = 0; n < events; n += 1) {
    const version = 1 + Math.floor(n / keys);
    await client.query(
      `INSERT INTO outbox (id, aggregate_type, aggregate_id, message_type, segment, payload)
       VALUES (gen_random_uuid(), 'work', $1, 'Changed', $1, $2)`,
      [`k${n % keys}`, JSON.stringify({ version, x: body })],
    );
    committed[n] = now();
    await pause(EVERY_MS);
  }
  await Promise.race([done, pause(IDLE_LEFT_MS)]);
  const taken = committed
    .map((at, n) => handled[n] - at)
    .filter((ms) => !Number.isNaN(ms)) // of those that came; the others are counted
    .sort((a, b) => a - b);
  const at = (share) => taken[Math.floor(taken.length * share)];
  return { events: count, p50_ms: at(0.5), p95_ms: at(0.95), wrong };
}

(async () => {
  if (mode === 'setup') {
    await setup();
  } else {
    console.log(JSON.stringify(await (mode === 'backlog' ? backlog() : idle())));
  }
  process.exit(0); // what it still has under way is not waited for
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
