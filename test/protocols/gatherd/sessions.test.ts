// Tests both gatherd engines together, on garbage and on stored inputs.
import { readdir, readFile } from 'node:fs/promises';
import fc from 'fast-check';
import t from 'tap';
import { KitError } from '../../../protocols/errors.js';
import { assertProperty } from '../../helpers/property.js';
import {
  bytes,
  ClientRig,
  changes,
  compressedUpdate,
  GREETED,
  HELLO,
  INFO,
  infoAndQuit,
  MEMBER,
  OBJECTS,
  ONE,
  object,
  ServerRig,
  STREAM,
  update,
} from './rigs.js';

t.test('GATHERD-2.4: an over-long line ends the session by its length, however it is cut', async (t) => {
  const options = { maxLineBytes: 10, maxDroppedBytes: 20 };
  for (const [length, closes] of [
    [20, false],
    [21, true],
  ] as const) {
    const input = bytes(`${'x'.repeat(length)}\nHELP\n`);
    for (const size of [1, 7, input.length]) {
      const rig = new ServerRig(options).start().feed(input, size);
      t.equal(rig.closed, closes, `${length} bytes in pieces of ${size}`);
    }
  }
});

t.test('GATHERD-3.1: an error names the offset of its line, however the input is cut', async (t) => {
  const input = bytes('noise\n000 - x\n');
  for (const size of [1, 4, input.length]) {
    const rig = new ClientRig();
    t.throws(
      () => rig.feed(input, size),
      { name: 'ProtocolError', rule: 'GATHERD-3.1', offset: 6 },
      `pieces of ${size}`,
    );
  }
});

t.test('GATHERD-3.9: objects before an error are delivered, wherever the input is cut', async (t) => {
  const input = bytes(`${HELLO}400 - x\n@UPDATE {\n${ONE}}\n500 - the disk is full\n`);
  for (const size of [1, 50, input.length]) {
    const rig = new ClientRig();
    update(rig.session);
    t.throws(() => rig.feed(input, size).end(), { name: 'PeerError', status: 500 }, `pieces of ${size}`);
    t.same(rig.log, [...GREETED, 'update http://a.example/'], `pieces of ${size}`);
    t.match(rig.session.failure, { name: 'PeerError' });
    t.throws(() => rig.session.quit(), { name: 'StateError' }, 'the session is over');
  }
});

t.test('property: both engines work together, wherever the bytes are cut', async (t) => {
  t.doesNotThrow(() =>
    assertProperty(
      fc.property(
        fc.boolean(),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        (compress, sizes) => {
          const server = new ServerRig();
          const client = new ClientRig();
          let commands = [client.session.hello('c')];
          if (compress) commands.push(client.session.setCompression());
          commands = [
            ...commands,
            client.session.setChanges(),
            client.session.sendUpdate(3),
            client.session.info(),
            client.session.sendObject('http://a.example/'),
            client.session.quit(),
          ];
          server.start().feed(Buffer.concat(commands), sizes[0]);
          let offset = 0;
          for (let i = 0; offset < server.output.length; i++) {
            const size = sizes[i % sizes.length] ?? 1;
            client.feed(bytes(server.output.slice(offset, offset + size)));
            offset += size;
          }
          return (
            server.closed &&
            client.log.join(';') ===
              [
                ...GREETED.slice(0, 1),
                'hello true',
                ...(compress ? ['compression true'] : []),
                'changes true',
                ...OBJECTS,
                'object -',
                'info-end true',
                'object http://a.example/',
                'object-end true',
                'bye',
              ].join(';')
          );
        },
      ),
      { numRuns: 100 },
    ),
  );
});

t.test('property: garbage closes the server, and the client throws only KitErrors', async (t) => {
  const word = fc.constantFrom(
    'HELLO',
    'SEND-UPDATE',
    'SEND-OBJECT',
    'SET',
    'compression',
    'changes',
    'INFO',
    'QUIT',
    'HELP',
    ' ',
    '\n',
    '\r\n',
    '0',
    '000 - HELLO 1 h\n',
    '100 - x\n',
    '300 - x\n',
    '399 - x\n',
    '400 - x\n',
    '499 - x\n',
    '500 - x\n',
    '600 - x\n',
    '999 - x\n',
    STREAM,
    ONE,
    INFO,
    MEMBER,
    '@UPDATE {',
    '}\n',
    '\x1f\x8b\x08\x00',
  );
  const mix = fc
    .array(fc.oneof(word, fc.string({ unit: 'binary', maxLength: 5 })), { maxLength: 12 })
    .map((parts) => bytes(parts.join('')));
  t.doesNotThrow(() =>
    assertProperty(
      fc.property(mix, fc.integer({ min: 1, max: 50 }), (input, size) => {
        const rig = new ServerRig().start().feed(input, size);
        rig.perform(rig.session.end());
        return rig.closed;
      }),
      { numRuns: 200 },
    ),
  );
  for (const send of [update, compressedUpdate, changes, infoAndQuit, object]) {
    t.doesNotThrow(() =>
      assertProperty(
        fc.property(mix, fc.integer({ min: 1, max: 50 }), fc.boolean(), (input, size, greeted) => {
          const rig = new ClientRig();
          send(rig.session);
          try {
            if (greeted) rig.feed(bytes(HELLO));
            rig.feed(input, size).end();
          } catch (error) {
            if (!(error instanceof KitError) || error.code === 'ERR_STATE') throw error;
          }
        }),
        { numRuns: 60 },
      ),
    );
  }
});

t.test('corpus: stored inputs give the same in any chunks and throw only KitErrors', async (t) => {
  const corpus = new URL('test/fuzz/corpus/gatherd/', import.meta.resolve('#package.json'));
  const files = await readdir(corpus);
  t.ok(files.length > 0);
  for (const file of files) {
    const input = await readFile(new URL(file, corpus));
    const outcomes = new Set<string>();
    for (const size of [input.length, 1, 7]) {
      if (file.startsWith('client-')) {
        const rig = new ServerRig().start().feed(input, size);
        rig.perform(rig.session.end());
        outcomes.add(rig.output);
      }
      for (const send of [update, compressedUpdate, infoAndQuit, object]) {
        const rig = new ClientRig();
        send(rig.session);
        try {
          rig.feed(input, size).end();
        } catch (error) {
          if (!(error instanceof KitError) || error.code === 'ERR_STATE') throw error;
        }
      }
    }
    t.ok(outcomes.size <= 1, `${file}: chunk boundaries have no effect`);
  }
});
