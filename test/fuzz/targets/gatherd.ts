// gatherd: the sessions of the server and of the client, gzip members, and single lines.
import { KitError } from '../../../protocols/errors.js';
import {
  type GatherdClientEvent,
  GatherdClientSession,
  GzipHeaderReader,
  GzipTrailerReader,
  parseCommand,
  parseStatusLine,
  parseTimestamp,
} from '../../../protocols/gatherd/index.js';
import {
  changes,
  compressedUpdate,
  info,
  infoAndQuit,
  object,
  type Send,
  ServerRig,
  update,
} from '../../protocols/gatherd/rigs.js';
import { gzipMember } from '../generators/gzip.js';
import { soifSections } from '../generators/soif.js';
import {
  allowed,
  assert,
  bytesOf,
  type FuzzTarget,
  latin1,
  randomOf,
  sameInPieces,
  shown,
  wordsIn,
} from '../target.js';

const COMMANDS = wordsIn(
  'HELLO x|SEND-UPDATE 0|SEND-OBJECT http://a.example/|SET compression|SET changes|INFO|HELP|QUIT|' + 'NOOP|',
);

export const gatherdServer: FuzzTarget = {
  corpus: ['gatherd'],
  tokens: COMMANDS.map((command) => `${command}\n`),
  generate: (random) =>
    bytesOf(random.list(8, () => `${random.pick(COMMANDS)}${random.pick(['\n', '\r\n'])}`).join('')),
  maxBytes: 1024,
  // Each request is answered with the whole database of the rig.
  linear: false,
  run: (input) => {
    sameInPieces(input, (pieces) => {
      const rig = new ServerRig({ maxLineBytes: 60, maxDroppedBytes: 200 }).start();
      for (const piece of pieces) rig.feed(piece);
      if (rig.session.acceptsInput) rig.perform(rig.session.end());
      return [rig.requests, rig.closed, rig.output.length];
    });
  },
};

const SENDS: readonly Send[] = [update, compressedUpdate, changes, info, infoAndQuit, object];

/** The events, with the bytes of consecutive data joined. */
function clientLog(send: Send, pieces: readonly Uint8Array[]): string[] {
  const session = new GatherdClientSession();
  const log: string[] = [];
  let data = '';
  const add = (events: readonly GatherdClientEvent[]): void => {
    for (const event of events) {
      if (event.kind === 'data' || event.kind === 'inflate') {
        data += latin1(event.bytes);
        continue;
      }
      if (data !== '') log.push(data);
      data = '';
      log.push(shown(event));
    }
  };
  try {
    send(session);
    for (const piece of pieces) add(session.push(piece));
    if (session.failure !== undefined) throw session.failure;
    add(session.end());
    if (session.failure !== undefined) throw session.failure;
  } catch (error) {
    if (!(error instanceof KitError)) throw error;
    log.push(data, error.message);
  }
  return log;
}

export const gatherdClient: FuzzTarget = {
  corpus: ['gatherd'],
  tokens: wordsIn('000 - HELLO 1.8 a.example\n|100 - HELLO c\n|400 - |499 - Sent 1 object\n|999 - bye\n'),
  generate: (random) => {
    const greeting = '000 - HELLO 1.8 a.example\n100 - HELLO c\n';
    const end = random.pick(['499 - Sent 1 object\n', '', '498 - x\n', '999 - ']);
    return Buffer.concat([Buffer.from(greeting), soifSections(random), Buffer.from(end)]);
  },
  run: (input) => {
    const send = randomOf(input).pick(SENDS);
    sameInPieces(input, (pieces) => clientLog(send, pieces));
  },
};

export const gzipFrame: FuzzTarget = {
  generate: gzipMember,
  run: (input) => {
    sameInPieces(input, (pieces) =>
      [new GzipHeaderReader(200), new GzipTrailerReader()].map((reader) => {
        let rest = '';
        try {
          for (const piece of pieces) rest += latin1(reader.done ? piece : reader.push(piece));
          if (reader instanceof GzipTrailerReader && reader.done) reader.check(0, 0);
        } catch (error) {
          if (!(error instanceof KitError)) throw error;
          return error.message;
        }
        return [reader.done, rest];
      }),
    );
  },
};

export const gatherdLines: FuzzTarget = {
  tokens: COMMANDS,
  seeds: COMMANDS,
  run: (input) => {
    const line = latin1(input);
    allowed(() => parseCommand(line));
    const status = parseStatusLine(line);
    assert(status === undefined || Number.isSafeInteger(status.code), 'a status is a number');
    const time = parseTimestamp(line);
    assert(time === undefined || Number.isSafeInteger(time), 'a time is a whole number');
  },
};
