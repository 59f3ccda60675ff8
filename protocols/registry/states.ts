// The states of the reader of a Registry, and of a record, as tables.
import { type StateTable, type Transition, to } from '../state-machine.js';
import type { RecordState } from './format.js';
import type { RegistryCounts } from './header.js';

type DecoderState = 'file header' | 'record header' | 'data' | 'stopped' | 'ended';
type DecoderStep = 'header' | 'foreign' | 'head' | 'magic' | 'size' | 'record' | 'more' | 'end' | 'cut';

const CUT = 'a cut record, REG-29';

/** The reader of a Registry file. */
export const DECODER_STATES: StateTable<DecoderState, DecoderStep> = {
  'file header': {
    header: to('record header', '20 bytes, right magic number', 'version and counts'),
    foreign: to('stopped', '20 bytes, another magic number', 'damage, REG-8'),
    cut: to('ended', 'end of file after fewer bytes', 'damage, REG-5'),
  },
  'record header': {
    head: to('data', '12 bytes, right magic number, possible size'),
    magic: to('stopped', '12 bytes, wrong magic number', 'damage, REG-15'),
    size: to('stopped', '12 bytes, size below what REG-11 allows or above the limit', 'damage, REG-11'),
    end: to('ended', 'end of file'),
    cut: to('ended', 'end of file after 1 to 11 bytes', CUT),
  },
  data: {
    record: to('record header', 'as many bytes as the size says', 'the record'),
    cut: to('ended', 'end of file after fewer bytes', CUT),
  },
  stopped: {
    more: to('stopped', 'more bytes'),
    end: to('ended', 'end of file'),
  },
  ended: {},
};

/** A transition of a record, and what it adds to the counts of the file's header. */
interface RecordTransition extends Transition<RecordState | 'absent'> {
  readonly counts: RegistryCounts;
}

function counting(
  next: RecordState | 'absent',
  input: string,
  { records = 0, valid = 0, deleted = 0 }: Partial<RegistryCounts>,
): RecordTransition {
  const output = Object.entries({ records, valid, deleted })
    .filter(([, change]) => change !== 0)
    .map(([name, change]) => `${name} ${change > 0 ? '+' : '-'} ${Math.abs(change)}`);
  return { ...to(next, input, output.join(', ')), counts: { records, valid, deleted } };
}

const COMPRESS = 'compress (REG-26)';

/** A record of a Registry that is changed. */
export const RECORD_STATES = {
  absent: { append: counting('valid', 'append (REG-23)', { records: 1, valid: 1 }) },
  valid: {
    delete: counting('deleted', 'delete (REG-24), or change (REG-25), which also appends another record', {
      valid: -1,
      deleted: 1,
    }),
    compress: counting('valid', COMPRESS, {}),
  },
  deleted: { compress: counting('absent', COMPRESS, { records: -1, deleted: -1 }) },
  unknown: { compress: counting('unknown', COMPRESS, {}) },
} as const satisfies StateTable<RecordState | 'absent', 'append' | 'delete' | 'compress'>;

/** The counts after `times` transitions of one kind. */
export function countTransitions(
  before: RegistryCounts,
  { counts }: { readonly counts: RegistryCounts },
  times: number,
): RegistryCounts {
  return {
    records: before.records + times * counts.records,
    deleted: before.deleted + times * counts.deleted,
    valid: before.valid + times * counts.valid,
  };
}
