// What the first transfer of everything shows: times, texts and bytes of the objects.
import { BOOKKEEPING_NAMES, REQUIRED_NAMES } from '../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { wordsOf } from '../broker/survey.js';
import { FixtureCollector, type FixtureCopies } from '../fixture.js';
import type { StreamObject } from '../gatherd/stream-check.js';
import { printable } from '../printable.js';
import { digestOf, type Transfer } from './transfer.js';

/** Objects that are remembered by URL, and objects whose words are used. */
const MAX_KNOWN = 20_000;
const MAX_SAMPLES = 500;
/** What identifies the Gatherer of an object. */
const GATHERER = ['Gatherer-Name', 'Gatherer-Host', 'Gatherer-Version'] as const;
const TEXTS = ['title', 'description', 'keywords'] as const;

/** Facts from the first transfer of everything. The data should not change during the run. */
export interface Survey {
  readonly transfer: Transfer;
  /** Update-Time by URL (Latin-1) of the first objects. */
  readonly times: ReadonlyMap<string, UnixSeconds>;
  /** Digests of the first objects. */
  readonly known: ReadonlySet<string>;
  /** Whether `times` and `known` have all objects. */
  readonly complete: boolean;
  /** The first object that lacks a mandatory attribute, and which (BT-24). */
  readonly lacking: string | undefined;
  /** The first object with an attribute of no bytes, and which (BT-16). */
  readonly empty: string | undefined;
  /** The URL of the first object that came before: with the same URL and from the same Gatherer. */
  readonly twice: string | undefined;
  /** A word that some of the objects have in their titles or descriptions, but not all, and no URL has. */
  readonly word: string | undefined;
  /** URLs of the sampled objects that have the word. */
  readonly having: ReadonlySet<string>;
  /** The objects of the fixture, if the Broker has them. */
  readonly fixture: FixtureCopies;
}

/** Returns the URL's bytes as Latin-1. */
export function urlOf({ object }: Pick<StreamObject, 'object'>): string {
  return Buffer.from(object.urlBytes).toString('latin1');
}

/** Describes which of the mandatory attributes an object lacks, with its URL; undefined if it has all. */
export function lackingOf(item: StreamObject): string | undefined {
  const lacking = REQUIRED_NAMES.filter((name) => (item.object.text(name) ?? '').trim() === '');
  return lacking.length === 0 ? undefined : `${printable(urlOf(item))} has no ${lacking.join(', ')}`;
}

interface Sample {
  readonly url: string;
  readonly words: ReadonlySet<string>;
}

/** Collects a {@link Survey} from the objects of a transfer. */
export class Surveyor {
  readonly #times = new Map<string, UnixSeconds>();
  readonly #known = new Set<string>();
  readonly #samples: Sample[] = [];
  /** URLs, names and bookkeeping values: a word in them may select every object. */
  readonly #bookkeeping: string[] = [];
  readonly #identities = new Set<string>();
  readonly #fixture = new FixtureCollector();
  readonly #found: { -readonly [Fact in 'complete' | 'lacking' | 'empty' | 'twice']: Survey[Fact] } = {
    complete: true,
    lacking: undefined,
    empty: undefined,
    twice: undefined,
  };

  add(item: StreamObject): void {
    const { object } = item;
    this.#fixture.add(item);
    this.#found.lacking ??= lackingOf(item);
    for (const { name, value } of object) {
      if (value.length === 0) this.#found.empty ??= `${name} of ${printable(urlOf(item))}`;
    }
    if (this.#identities.size < MAX_KNOWN) {
      const identity = [urlOf(item), ...GATHERER.map((name) => object.text(name))].join('\n');
      if (this.#identities.has(identity)) this.#found.twice ??= printable(urlOf(item));
      this.#identities.add(identity);
      this.#known.add(digestOf(item).toString('hex'));
    } else this.#found.complete = false;
    if (this.#times.size < MAX_KNOWN) this.#times.set(urlOf(item), object.number('Update-Time') ?? 0);
    if (this.#samples.length < MAX_SAMPLES) this.#sample(item);
  }

  survey(transfer: Transfer): Survey {
    const word = this.#word();
    const having = this.#samples.filter(({ words }) => word !== undefined && words.has(word));
    return {
      transfer,
      times: this.#times,
      known: this.#known,
      ...this.#found,
      word,
      having: new Set(having.map(({ url }) => url)),
      fixture: this.#fixture.copies,
    };
  }

  #sample(item: StreamObject): void {
    const { object } = item;
    const text = TEXTS.map((name) => object.text(name) ?? '').join('\n');
    this.#samples.push({ url: urlOf(item), words: new Set(wordsOf(text)) });
    const names = object.attributes.map(({ name }) => name);
    const values = BOOKKEEPING_NAMES.map((name) => object.text(name) ?? '');
    this.#bookkeeping.push([urlOf(item), ...names, ...values].join('\n').toLowerCase());
  }

  /** Returns the word of content that divides the samples most evenly. */
  #word(): string | undefined {
    const seenIn = new Map<string, number>();
    for (const { words } of this.#samples)
      for (const word of words) seenIn.set(word, (seenIn.get(word) ?? 0) + 1);
    const half = this.#samples.length / 2;
    const bookkeeping = this.#bookkeeping.join('\n');
    const dividing = [...seenIn].filter(
      ([word, count]) => count < this.#samples.length && !bookkeeping.includes(word),
    );
    dividing.sort(([a, inA], [b, inB]) => Math.abs(inA - half) - Math.abs(inB - half) || (a < b ? -1 : 1));
    return dividing[0]?.[0];
  }
}
