import { REQUIRED_NAMES } from '../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { wordsOf } from '../broker/survey.js';
import { type ConformanceCase, NotApplicable } from '../case.js';
import type { StreamObject } from '../gatherd/stream-check.js';
import { printable } from '../printable.js';
import { ServerContext, type ServerFacts, withSurvey } from '../server-context.js';
import type { Wire } from '../wire.js';
import { type OnObject, readTransfer, requireTransfer, type Transfer } from './transfer.js';

/*
 * The context of the cases for bulk transfers: sends requests and holds the survey of the transfer of
 * everything.
 */

export type BulkCase = ConformanceCase<BulkContext>;

/** The request of deployed clients for everything (BT-3). */
export const EVERYTHING = '#BULK #SINCE 0 #END #ALLB';
/** Time limit of a case that may transfer a large database; a server that sends nothing fails it earlier. */
export const TRANSFER_MS = 600_000;
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
  /** Whether `times` has all objects. */
  readonly complete: boolean;
  /** The first object that lacks a mandatory attribute, and which (BT-24). */
  readonly lacking: string | undefined;
  /** The first object with an attribute of no bytes, and which (BT-16). */
  readonly empty: string | undefined;
  /** The URL of the first object that came before: with the same URL and from the same Gatherer. */
  readonly twice: string | undefined;
  /** A word that some of the objects have in their titles or descriptions, but not all. */
  readonly word: string | undefined;
  /** URLs of the sampled objects that have the word. */
  readonly having: ReadonlySet<string>;
}

/** Facts that the cases of a run share. */
export interface SharedFacts extends ServerFacts {
  /** `failed`: there is no transfer of everything. */
  survey: Survey | 'failed' | undefined;
}

/** Context of a case. Its connections are closed when it ends. */
export class BulkContext extends ServerContext<SharedFacts> {
  /** Opens a connection and reads the version line (BT-9). */
  async session(recorded = true): Promise<Wire> {
    const wire = await this.connect(recorded);
    await wire.expect(200, 'the connection');
    return wire;
  }

  /** Sends bytes unchanged on a new connection and reads the whole answer. */
  async exchange(bytes: string | Uint8Array, onObject?: OnObject): Promise<Transfer> {
    const wire = await this.session();
    await wire.send(bytes);
    return readTransfer(wire, onObject);
  }

  /** As {@link exchange} with CR LF after the message (BT-3). */
  ask(message: string, onObject?: OnObject): Promise<Transfer> {
    return this.exchange(`${message}\r\n`, onObject);
  }

  /**
   * Returns the survey of the transfer of everything, which is made once.
   * @throws Mismatch if the first call fails; later calls throw NotApplicable, so that only one case of the run
   *   fails for it
   */
  async survey(): Promise<Survey> {
    const { survey } = this.shared;
    if (survey === 'failed')
      throw new NotApplicable('there is no transfer of everything: see transfer/everything');
    if (survey !== undefined) return survey;
    this.shared.survey = 'failed';
    const surveyor = new Surveyor();
    const transfer = await this.ask(EVERYTHING, (object) => surveyor.add(object));
    const taken = surveyor.survey(requireTransfer(transfer, EVERYTHING));
    this.shared.survey = taken;
    return taken;
  }
}

/** Compares answers with the survey. */
export const surveyed = withSurvey<Survey, BulkContext>(TRANSFER_MS);

/** Returns the URL's bytes as Latin-1. */
export function urlOf({ object }: StreamObject): string {
  return Buffer.from(object.urlBytes).toString('latin1');
}

/** Describes which of the `names` an object lacks, with its URL; undefined if it has all. */
export function lackingOf(item: StreamObject, names: readonly string[] = REQUIRED_NAMES): string | undefined {
  const lacking = names.filter((name) => (item.object.text(name) ?? '').trim() === '');
  return lacking.length === 0 ? undefined : `${printable(urlOf(item))} has no ${lacking.join(', ')}`;
}

/** Collects a {@link Survey} from the objects of a transfer. */
class Surveyor {
  readonly #times = new Map<string, UnixSeconds>();
  readonly #samples: { readonly url: string; readonly words: ReadonlySet<string> }[] = [];
  readonly #identities = new Set<string>();
  readonly #found: { -readonly [Fact in 'complete' | 'lacking' | 'empty' | 'twice']: Survey[Fact] } = {
    complete: true,
    lacking: undefined,
    empty: undefined,
    twice: undefined,
  };

  add(item: StreamObject): void {
    const { object } = item;
    this.#found.lacking ??= lackingOf(item);
    for (const { name, value } of object) {
      if (value.length === 0) this.#found.empty ??= `${name} of ${printable(urlOf(item))}`;
    }
    if (this.#identities.size < MAX_KNOWN) {
      const identity = [urlOf(item), ...GATHERER.map((name) => object.text(name))].join('\n');
      if (this.#identities.has(identity)) this.#found.twice ??= printable(urlOf(item));
      this.#identities.add(identity);
    }
    if (this.#times.size < MAX_KNOWN) this.#times.set(urlOf(item), object.number('Update-Time') ?? 0);
    else this.#found.complete = false;
    if (this.#samples.length === MAX_SAMPLES) return;
    const text = TEXTS.map((name) => object.text(name) ?? '').join('\n');
    this.#samples.push({ url: urlOf(item), words: new Set(wordsOf(text)) });
  }

  survey(transfer: Transfer): Survey {
    const word = this.#word();
    const having = this.#samples.filter(({ words }) => word !== undefined && words.has(word));
    return {
      transfer,
      times: this.#times,
      ...this.#found,
      word,
      having: new Set(having.map(({ url }) => url)),
    };
  }

  /** Returns the word that divides the samples most evenly. */
  #word(): string | undefined {
    const seenIn = new Map<string, number>();
    for (const { words } of this.#samples)
      for (const word of words) seenIn.set(word, (seenIn.get(word) ?? 0) + 1);
    const half = this.#samples.length / 2;
    const dividing = [...seenIn].filter(([, count]) => count < this.#samples.length);
    dividing.sort(([a, inA], [b, inB]) => Math.abs(inA - half) - Math.abs(inB - half) || (a < b ? -1 : 1));
    return dividing[0]?.[0];
  }
}
