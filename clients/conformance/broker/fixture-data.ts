// The fixture as a Broker sends it: whether it is loaded, and the values of its objects.
import { FIXTURE } from '../../../protocols/fixture/index.js';
import { NotApplicable } from '../case.js';
import { type FixtureCopies, isFixtureUrl, requireFixture } from '../fixture.js';
import { checkNotRefused } from './checks.js';
import { type Reply, type ReplyLimits, textsOf } from './reply.js';

/** A query with a word that the URL of each object of the fixture has. */
const QUERY = '#opaque #index case insensitive #index matchword #END fixture';
/** Objects that are read in search of the fixture. */
const MAX_OBJECTS = 5_000;

/** All names of attributes, in the order in which they are requested. */
export const ATTRIBUTE_NAMES: readonly string[] = [
  ...new Set(FIXTURE.flatMap(({ attributes }) => attributes.map(([name]) => name))),
];

/** The objects of the fixture with all that a Broker sends of them. */
export interface FixtureValues {
  /** The values of `127`, by URL. */
  readonly copies: FixtureCopies;
  readonly reply: Reply;
  /** Whether the Broker knows `#attribute`. */
  readonly attributes: boolean;
}

/** Sends a message and reads the whole reply. */
type Ask = (message: string, limits?: ReplyLimits) => Promise<Reply>;

/** The requests about the fixture that the cases of a run share; the first case that needs one sends it. */
export class FixtureData {
  #found: Promise<Reply> | undefined;
  #values: Promise<FixtureValues> | undefined;

  /** Returns the objects whose URLs have the word. Rejects with NotApplicable if the fixture is not loaded. */
  async found(ask: Ask): Promise<Reply> {
    this.#found ??= find(ask);
    return await this.#found;
  }

  /** Returns descriptions and all attributes. Rejects like {@link found}. */
  async values(ask: Ask): Promise<FixtureValues> {
    await this.found(ask);
    this.#values ??= readValues(ask);
    return await this.#values;
  }
}

async function find(ask: Ask): Promise<Reply> {
  const reply = await ask(`#USER ${QUERY}`, { maxObjects: MAX_OBJECTS });
  if (reply.truncated) throw new NotApplicable(`more than ${MAX_OBJECTS} objects have the word "fixture"`);
  requireFixture(reply.objects.map(({ url }) => url));
  return reply;
}

async function readValues(ask: Ask): Promise<FixtureValues> {
  const attributes = ATTRIBUTE_NAMES.map((name) => `#attribute ${name}`).join(' ');
  const late = await ask(`#USER #desc ${attributes} ${QUERY}`);
  // A classic Broker does not know `#attribute` and refuses the message.
  const isRefused = textsOf(late, 111).length > 0 && late.objects.length === 0;
  const reply = isRefused ? await ask(`#USER #desc ${QUERY}`) : late;
  checkNotRefused(reply, QUERY);
  return { reply, copies: copiesIn(reply), attributes: !isRefused };
}

/** Returns the values of `127` items. */
function copiesIn({ objects }: Reply): FixtureCopies {
  const copies = new Map<string, { name: string; value: Uint8Array }[][]>();
  for (const { url, items } of objects) {
    if (!isFixtureUrl(url)) continue;
    const values = items.flatMap(({ code, text, value }) =>
      code === 127 && value !== undefined ? [{ name: text.replace(/ \d+$/, ''), value }] : [],
    );
    copies.set(url, [...(copies.get(url) ?? []), values]);
  }
  return copies;
}
