// Answers the vectors with harvest-kit: a line of JSON in, a line of JSON out (run.py says which).
import { createInterface } from 'node:readline';
import { parseMessage, ResultDecoder } from 'harvest-kit/protocols/broker';
import { parseFilter } from 'harvest-kit/protocols/config';
import { KitError, ProtocolError } from 'harvest-kit/protocols/errors';
import { decodeRecordData, isRegistryVersion, RegistryDecoder } from 'harvest-kit/protocols/registry';
import { parseRobots, RobotsPolicy } from 'harvest-kit/protocols/robots';
import { SoifDecoder } from 'harvest-kit/protocols/soif';
import { SstpDecoder } from 'harvest-kit/protocols/sstp';
import { canonicalDocumentUrl, canonicalUrl } from 'harvest-kit/protocols/urls';
import { openFixtureBroker } from './kit-broker.mjs';
import { readInterface2, readShipped } from './kit-bulk.mjs';
import { receiveUpdate } from './kit-clients.mjs';
import { latin, objectOf, textOf } from './kit-json.mjs';

/** Opened for the first query. */
let broker;

/** What the kit makes of an input, by the kind of the vector; undefined and errors reject it. */
const ANSWERS = {
  'soif-stream': (input) => {
    const decoder = new SoifDecoder();
    const items = [...decoder.push(input), ...decoder.end()];
    return items.filter(({ kind }) => kind === 'object').map(({ object }) => objectOf(object));
  },
  'clear-update': (input) => receiveUpdate(input),
  'compressed-update': async (input) => {
    const changes = await receiveUpdate(input, { compressed: true });
    return changes.filter(({ group }) => group === 'update').map(({ group, ...object }) => object);
  },
  'broker-message': (input) => {
    const { kind, query } = parseMessage(input);
    return query === undefined ? { kind } : { kind, query: shapeOf(query) };
  },
  'broker-results': (input) => {
    const decoder = new ResultDecoder();
    const items = [...decoder.push(input), ...decoder.end()];
    return items.map(({ value, ...item }) => (value === undefined ? item : { ...item, ...textOf(value) }));
  },
  'fixture-query': async (input) => {
    broker ??= await openFixtureBroker();
    return await broker.find(input);
  },
  'bulk-shipped': readShipped,
  'bulk-interface-2': readInterface2,
  'registry-file': (input, { reading = 'a' }) => {
    const decoder = new RegistryDecoder({ reading });
    const items = [...decoder.push(input), ...decoder.end()];
    const damage = items.find(({ kind, rule }) => kind === 'damage' && rule !== 'REG-29');
    if (damage !== undefined) throw registryError(damage);
    const [{ version, records, deleted, valid }] = items;
    if (!isRegistryVersion(version))
      throw registryError({ rule: 'REG-9', offset: 4, message: `the version is ${version}` });
    const found = items.filter(({ kind }) => kind === 'record');
    return {
      version,
      counts: [records, deleted, valid],
      records: found.map((record) => recordOf(record, version)),
    };
  },
  'filter-file': (input, { path, name, address }) => {
    const filter = parseFilter(input.toString(), 'filter');
    return path === undefined ? filter.allows(name, address) : filter.allows(path);
  },
  'sstp-request': (input) => {
    const decoder = new SstpDecoder('request');
    const messages = [];
    for (let offset = 0; offset < input.length; ) {
      offset = decoder.read(input, offset);
      const message = decoder.takeMessage();
      if (message !== undefined)
        messages.push({ code: message.code, headers: message.headers, body: Buffer.from(message.body).toString() });
    }
    return messages;
  },
  'document-url': (input) => canonicalDocumentUrl(input.toString()),
  'canonical-url': (input, { base }) => canonicalUrl(input.toString(), base),
  'robots-txt': (input, { agent, path }) => {
    const policy = new RobotsPolicy({ policy: 'rfc9309', userAgent: agent });
    return policy.decide(parseRobots(input.toString()), path).allowed;
  },
};

/** A query as nested lists. */
function shapeOf(query) {
  switch (query.kind) {
    case 'all':
      return '#allb';
    case 'term':
      return query.text;
    case 'select':
      return [query.operator, query.attribute, query.value];
    case 'not':
      return ['not', shapeOf(query.operand)];
    default:
      return [query.kind, shapeOf(query.left), shapeOf(query.right)];
  }
}

function registryError({ message, rule, offset }) {
  return new ProtocolError(message, { protocol: 'registry', rule, offset });
}

/** A record of a Registry; its header of 12 bytes stands before its data. */
function recordOf({ state, data, offset }, version) {
  if (state === 'unknown') return { state };
  const { gatherer, rest, ...record } = decodeRecordData(data, version, offset + 12);
  return {
    state,
    ...record,
    url: latin(record.url),
    md5: latin(record.md5),
    description: latin(record.description),
    gatherer: gatherer.id ?? [gatherer.name, gatherer.host, gatherer.version].map(latin),
    ...(rest.length > 0 && { rest: latin(rest) }),
  };
}

async function answer({ kind, input, parameters }) {
  if (!(kind in ANSWERS)) return { verdict: 'skip' };
  try {
    const output = await ANSWERS[kind](Buffer.from(input, 'base64'), parameters);
    return output === undefined ? { verdict: 'reject' } : { verdict: 'accept', output };
  } catch (error) {
    if (!(error instanceof KitError)) throw error;
    return { verdict: 'reject', rule: error.rule, offset: error.offset };
  }
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
await broker?.close();
