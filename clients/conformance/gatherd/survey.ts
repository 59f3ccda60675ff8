// Facts about the database of the gatherd under test, from the first full transfer; later cases compare their
// replies with them.
import { createHash } from 'node:crypto';
import { REQUIRED_NAMES } from '../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { FixtureCollector, type FixtureCopies } from '../fixture.js';
import type { StreamObject } from './stream-check.js';
import type { Transfer } from './transfer.js';

/** An object in the database of the server. */
export interface Sample {
  /** The URL's bytes, as Latin-1. */
  readonly url: string;
  readonly updateTime: UnixSeconds | undefined;
  readonly digest: string;
}

/** Facts about the database from the first full transfer. The database should not change during the run. */
export interface Survey {
  readonly transfer: Transfer;
  /** Objects without a readable Update-Time; every update sends them (GATHERD-4.3). */
  readonly untimed: number;
  readonly oldest: UnixSeconds | undefined;
  readonly newest: UnixSeconds | undefined;
  /** Objects whose Update-Time is `newest`. */
  readonly atNewest: number;
  /** Number of objects by Update-Time; undefined if there are too many different times. */
  readonly times: ReadonlyMap<UnixSeconds, number> | undefined;
  readonly samples: readonly Sample[];
  /** An object whose URL has a percent sign. */
  readonly percent: Sample | undefined;
  /** The names of all attributes, in small letters; undefined if there are too many. */
  readonly names: ReadonlySet<string> | undefined;
  /** The objects of the fixture. */
  readonly fixture: FixtureCopies;
  /** The first object without an attribute that Brokers require (SOIF-6.5), and the attribute. */
  readonly incomplete: string | undefined;
}

const MAX_TIMES = 10_000;
const MAX_NAMES = 10_000;
const MAX_SAMPLES = 3;
/** Longest URL that fits into a command line (GATHERD-2.4). */
const MAX_SAMPLE_URL = 8000;

/** Collects a {@link Survey} during a full transfer. */
export class Surveyor {
  readonly #times = new Map<UnixSeconds, number>();
  readonly #samples: Sample[] = [];
  readonly #names = new Set<string>();
  readonly #fixture = new FixtureCollector();
  readonly #survey: { -readonly [Fact in keyof Omit<Survey, 'transfer'>]: Survey[Fact] } = {
    untimed: 0,
    oldest: undefined,
    newest: undefined,
    atNewest: 0,
    times: this.#times,
    samples: this.#samples,
    percent: undefined,
    names: this.#names,
    fixture: this.#fixture.copies,
    incomplete: undefined,
  };

  add(item: StreamObject): void {
    const survey = this.#survey;
    const { object } = item;
    const time = object.number('Update-Time');
    this.#count(time);
    this.#fixture.add(item);
    for (const { name, value } of object) if (value.length > 0) this.#names.add(name.toLowerCase());
    if (this.#names.size > MAX_NAMES) {
      survey.names = undefined;
      this.#names.clear();
    }
    const lacking = REQUIRED_NAMES.filter((name) => (object.text(name) ?? '') === '');
    if (lacking.length > 0) survey.incomplete ??= `${object.url} has no ${lacking.join(', ')}`;
    const url = Buffer.from(object.urlBytes).toString('latin1');
    if (!item.exact || url.length > MAX_SAMPLE_URL) return;
    if (this.#samples.length < MAX_SAMPLES) this.#samples.push(sampleOf(item, url, time));
    if (/%[0-9a-f]{2}/i.test(url)) survey.percent ??= sampleOf(item, url, time);
  }

  survey(transfer: Transfer): Survey {
    return { transfer, ...this.#survey };
  }

  #count(time: UnixSeconds | undefined): void {
    const survey = this.#survey;
    if (time === undefined) {
      survey.untimed++;
      return;
    }
    if (survey.oldest === undefined || time < survey.oldest) survey.oldest = time;
    if (survey.newest === undefined || time > survey.newest) {
      survey.newest = time;
      survey.atNewest = 0;
    }
    if (time === survey.newest) survey.atNewest++;
    if (survey.times === undefined) return;
    this.#times.set(time, (this.#times.get(time) ?? 0) + 1);
    if (this.#times.size > MAX_TIMES) survey.times = undefined;
  }
}

function sampleOf({ bytes }: StreamObject, url: string, updateTime: UnixSeconds | undefined): Sample {
  return { url, updateTime, digest: digestOf(bytes) };
}

/** SHA-256, hexadecimal. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
