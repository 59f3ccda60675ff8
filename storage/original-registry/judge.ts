// Judges the records of a Registry by the files of their objects, the same way for the check and for the
// repair.
import { ProtocolError } from '../../protocols/errors.js';
import {
  emptyFields,
  type GathererIds,
  type RawRecord,
  type RegistryRecord,
} from '../../protocols/registry/index.js';
import { OidSet } from '../broker/oid-set.js';
import { DEFAULT_MAX_OBJECT_BYTES, type RecordedFile, readRecordedFile } from './object-file.js';
import type { ObjectLocations } from './object-locations.js';
import type { RegistryProblem, ScanItem } from './scan.js';
import { readRecord } from './walk.js';

/** What is compared with the records. */
export interface JudgeContext {
  readonly version: number;
  /** The files of the objects; undefined if only the Registry is known. */
  readonly files: ObjectLocations | undefined;
  /** The Gatherers of a Registry of version 2; undefined if they are not known. */
  readonly ids: GathererIds | undefined;
  /** The offset of the record to keep, of OIDs with several valid records. Default: the first one. */
  readonly winners?: ReadonlyMap<number, number>;
}

/**
 * `keep`: the record is right, or its problem cannot be seen. `rebuild`: the object's file determines the
 * record (REG-40). `remove`: no file of its number is about its URL; a file of another number may be.
 */
type Verdict = 'keep' | 'rebuild' | 'remove';

/** A record with its problems. */
export interface JudgedRecord {
  readonly kind: 'record';
  readonly raw: RawRecord;
  /** Undefined if the record is of an unknown version or flag and too short. */
  readonly record: RegistryRecord | undefined;
  readonly verdict: Verdict;
  readonly problems: readonly RegistryProblem[];
  /** Whether the file of its number is about its URL. */
  readonly matches: boolean;
}

export type JudgedItem = JudgedRecord | Extract<ScanItem, { readonly kind: 'problem' }>;

/** The number of files that are read concurrently. */
const CONCURRENT_READS = 16;

/** The OIDs that were seen, by the flags of their records. */
export class SeenOids {
  readonly valid = new OidSet();
  readonly deleted = new OidSet();
  readonly unknown = new OidSet();
  /** OIDs of several valid records (REG-35). */
  readonly doubled = new OidSet();
}

/** Judges the records in the file's order. @param seen receives their OIDs */
export async function* judge(
  items: AsyncIterable<ScanItem>,
  context: JudgeContext,
  seen: SeenOids,
): AsyncGenerator<JudgedItem, void, undefined> {
  let batch: ScanItem[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < CONCURRENT_READS) continue;
    yield* await judgeBatch(batch, context, seen);
    batch = [];
  }
  yield* await judgeBatch(batch, context, seen);
}

function judgeBatch(
  batch: readonly ScanItem[],
  context: JudgeContext,
  seen: SeenOids,
): Promise<JudgedItem[]> {
  return Promise.all(
    batch.map((item) => (item.kind === 'problem' ? item : judgeRecord(item, context, seen))),
  );
}

async function judgeRecord(raw: RawRecord, context: JudgeContext, seen: SeenOids): Promise<JudgedRecord> {
  const decoded = readRecord(raw, context.version);
  const record = decoded instanceof ProtocolError ? undefined : decoded;
  const whole = { kind: 'record', raw, record, verdict: 'keep', problems: [], matches: false } as const;
  if (record === undefined) return whole;
  const { oid } = record;
  if (raw.state !== 'valid') {
    seen[raw.state].add(oid);
    return whole;
  }
  const second = seen.valid.has(oid);
  if (second) seen.doubled.add(oid);
  seen.valid.add(oid);
  const problems: RegistryProblem[] = [];
  const report = (rule: string, message: string) => problems.push({ rule, offset: raw.offset, message });
  const file = await fileOf(record, context);
  const empty = emptyFields(record);
  for (const name of empty) report('REG-39', `object ${oid} has no ${name}`);
  if (oid === 0) report('REG-35', 'a valid record has the OID 0');
  if (second) report('REG-35', `a second valid record has the OID ${oid}`);
  const { files, ids, winners } = context;
  if (files !== undefined && file === undefined) report('REG-38', `object ${oid} has no file`);
  const mismatch = file !== undefined && 'problem' in file;
  if (mismatch) report('REG-36', `object ${oid}: ${file.problem}`);
  const { gatherer } = record;
  const unknownId = ids !== undefined && 'id' in gatherer && ids.get(gatherer.id) === undefined;
  if (unknownId && 'id' in gatherer) report('REG-50', `Gatherer-Ids has no id ${gatherer.id}`);
  const winner = winners?.get(oid);
  const loses = winner === undefined ? second : winner !== raw.offset;
  const isWrong = empty.length > 0 || mismatch || unknownId;
  const isGone = oid === 0 || loses || (files !== undefined && file === undefined);
  const verdict = isGone ? 'remove' : isWrong ? (files === undefined ? 'remove' : 'rebuild') : 'keep';
  return { ...whole, problems, verdict, matches: file !== undefined && !mismatch };
}

async function fileOf(record: RegistryRecord, { files }: JudgeContext): Promise<RecordedFile | undefined> {
  if (files === undefined || record.oid === 0) return undefined;
  return await readRecordedFile(files, record, DEFAULT_MAX_OBJECT_BYTES);
}
