// Answers the vectors with harvest-kit: a line of JSON in, a line of JSON out (run.py says which).
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { GatherdClient } from 'harvest-kit/clients/gatherd';
import { parseMessage, ResultDecoder } from 'harvest-kit/protocols/broker';
import { KitError } from 'harvest-kit/protocols/errors';
import { parseRobots, RobotsPolicy } from 'harvest-kit/protocols/robots';
import { SoifDecoder } from 'harvest-kit/protocols/soif';
import { SstpDecoder } from 'harvest-kit/protocols/sstp';
import { canonicalUrl } from 'harvest-kit/protocols/urls';

/** What the kit makes of an input, by the kind of the vector; undefined and errors reject it. */
export const ANSWERS = {
  'soif-stream': (input) => {
    const decoder = new SoifDecoder();
    const items = [...decoder.push(input), ...decoder.end()];
    return items.filter(({ kind }) => kind === 'object').map(({ object }) => objectOf(object));
  },
  'compressed-update': receiveUpdate,
  'broker-message': (input) => {
    const { kind, query } = parseMessage(input);
    return query === undefined ? { kind } : { kind, query: shapeOf(query) };
  },
  'broker-results': (input) => {
    const decoder = new ResultDecoder();
    const items = [...decoder.push(input), ...decoder.end()];
    return items.map(({ value, ...item }) => (value === undefined ? item : { ...item, ...textOf(value) }));
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
  'canonical-url': (input, { base }) => canonicalUrl(input.toString(), base),
  'robots-txt': (input, { agent, path }) => {
    const policy = new RobotsPolicy({ policy: 'rfc9309', userAgent: agent });
    return policy.decide(parseRobots(input.toString()), path).allowed;
  },
};

/** Text if the bytes are UTF-8, else base64. */
function textOf(bytes) {
  const text = Buffer.from(bytes).toString();
  return Buffer.from(text).equals(Buffer.from(bytes)) ? { text } : { base64: Buffer.from(bytes).toString('base64') };
}

function objectOf({ type, url, attributes }) {
  return { type, url, attributes: attributes.map(({ name, value }) => ({ name, ...textOf(value) })) };
}

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

/** Lets the client of gatherd read a compressed update from a server that sends these bytes and closes. */
async function receiveUpdate(input) {
  const server = createServer(async (socket) => {
    socket.on('error', () => {});
    socket.write('000 - HELLO 1.8 gatherd.example\n');
    for await (const line of createInterface({ input: socket })) {
      if (line.startsWith('HELLO')) socket.write('100 - HELLO\n');
      else if (line === 'SET compression') socket.write('500 - Compression enabled\n');
      else if (line.startsWith('SET ')) socket.write('900 - Bad argument\n');
      else if (line.startsWith('SEND-UPDATE')) {
        socket.write('400 - Sending all objects since 0\n');
        socket.end(input);
      }
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const objects = [];
    const client = new GatherdClient({ host: '127.0.0.1', port: server.address().port });
    for await (const { object } of client.changes({ since: 0 })) objects.push(objectOf(object));
    return objects;
  } finally {
    server.close();
  }
}

async function answer({ kind, input, parameters }) {
  if (!(kind in ANSWERS)) return { verdict: 'skip' };
  try {
    const output = await ANSWERS[kind](Buffer.from(input, 'base64'), parameters);
    return output === undefined ? { verdict: 'reject' } : { verdict: 'accept', output };
  } catch (error) {
    if (!(error instanceof KitError)) throw error;
    return { verdict: 'reject' };
  }
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
