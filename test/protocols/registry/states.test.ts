// The reader of a Registry runs on its table of states.
import fc from 'fast-check';
import t from 'tap';
import { RegistryDecoder } from '../../../protocols/registry/index.js';
import { DECODER_STATES } from '../../../protocols/registry/states.js';
import { checkMachine } from '../../helpers/state-machine.js';
import { handFile, handRecord, u32 } from '../../storage/original-registry/helpers.js';

const HEADER = handFile([]);
const RECORD = handRecord(1, { counted: 12 });
const OTHER_FILE = Buffer.alloc(20);
const OTHER_RECORD = u32(50, 0, 1);
const MAGIC = RECORD.readUInt32BE(4);
const SMALL = u32(11, MAGIC, 1);
const LARGE = u32(5000, MAGIC, 1);
const END = Buffer.from('end');

/** Reads the inputs as chunks of a file, which END ends. */
function read(inputs: readonly Buffer[]): undefined {
  const decoder = new RegistryDecoder({ maxRecordBytes: 1000, reading: 'b' });
  for (const input of inputs) {
    if (input === END) {
      decoder.end();
      return;
    }
    decoder.push(input);
  }
}

t.test('the reader of a Registry runs on its table of states', async (t) => {
  checkMachine(t, {
    table: DECODER_STATES,
    start: 'file header',
    run: read,
    walks: [
      [HEADER, RECORD, RECORD.subarray(0, 30), RECORD.subarray(30), END],
      [OTHER_FILE, RECORD, END],
      [HEADER.subarray(0, 19), END],
      [HEADER, OTHER_RECORD, RECORD, END],
      [HEADER, SMALL],
      [HEADER, LARGE],
      [HEADER, RECORD.subarray(0, 11), END],
      [HEADER, RECORD.subarray(0, 12), END],
    ],
    input: fc.constantFrom(
      HEADER,
      RECORD,
      RECORD.subarray(0, 12),
      RECORD.subarray(12),
      SMALL,
      LARGE,
      OTHER_RECORD,
      END,
    ),
  });
});
