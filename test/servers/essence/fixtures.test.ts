// Documents and what their summaries contain: `fixtures/TYPE/NAME.in` is a document, `NAME.json` names the rule
// and says what it yields. README.md in that folder describes the format.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import {
  compileEssence,
  type EssenceInput,
  type EssenceOptions,
  readEssenceSources,
} from '../../../servers/essence/index.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';
import { summaryOf } from './fixtures/summary-of.js';
import { attributesOf, contentOf, IDENTITY, inputOf } from './helpers.js';
import { FIXTURES, readFixture } from './read-fixture.js';

/** A text; several lines can be written as an array. */
type Text = string | readonly string[];

interface Fixture {
  /** Rule and subject: the name of the test. */
  readonly title: string;
  /** Name of the document. Default: that of the fixture with `.in`. */
  readonly document?: string;
  /**
   * The type whose summarizer reads the document, without the other steps. Otherwise the document has a URL.
   */
  readonly type?: string;
  readonly url?: string;
  readonly input?: Partial<EssenceInput>;
  readonly options?: Partial<EssenceOptions>;
  /** Configuration files of Essence by name, instead of the shipped ones. */
  readonly files?: Readonly<Record<string, Text>>;
  readonly expected: Readonly<Record<string, unknown>>;
}

const shipped = await readEssenceSources({});

/** Everything that a document yields. */
async function yieldOf(fixture: Fixture, body: Uint8Array): Promise<Record<string, unknown>> {
  if (fixture.type !== undefined) {
    const { all, summary, warnings } = await summaryOf(fixture.type, body, fixture.options);
    return { attributes: all, text: summary.text, description: summary.description, warnings };
  }
  const files = Object.entries(fixture.files ?? {}).map(([file, text]) => [
    file,
    { file, text: textOf(text) },
  ]);
  const context = compileEssence(
    { ...IDENTITY, keywords: false, description: false, ...fixture.options },
    { ...shipped, ...Object.fromEntries(files) },
  );
  const { soif, exploded, ...rest } = await summarizeDocument(
    inputOf(fixture.url ?? '', body, fixture.input),
    context,
  );
  return {
    ...rest,
    attributes: soif && contentOf({ ...rest, soif }),
    object: soif && Buffer.from(soif).toString('latin1'),
    exploded: exploded?.map(({ url, soif }) => ({ url, attributes: attributesOf(soif) })),
  };
}

const textOf = (text: Text): string => (typeof text === 'string' ? text : text.join('\n'));

/** Replaces arrays of lines by texts, at any depth. */
function joinLines(value: unknown, key = ''): unknown {
  if (Array.isArray(value))
    return typeof value[0] === 'string' && key !== 'warnings'
      ? value.join('\n')
      : value.map((item) => joinLines(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, joinLines(item, name)]));
}

/**
 * Replaces each warning that a pattern between slashes matches by the pattern, for messages of Node.js and of
 * libraries.
 */
function byPattern(warnings: readonly string[], expected: readonly string[]): string[] {
  return warnings.map((warning, i) => {
    const pattern = /^\/(.+)\/$/.exec(expected[i] ?? '')?.[1];
    return pattern !== undefined && new RegExp(pattern).test(warning) ? expected[i]! : warning;
  });
}

for (const { name: type } of (await readdir(FIXTURES, { withFileTypes: true })).filter((entry) =>
  entry.isDirectory(),
)) {
  const files = (await readdir(join(FIXTURES, type))).sort();
  const unread = new Set(files.filter((file) => !file.endsWith('.json')));
  for (const file of files.filter((file) => file.endsWith('.json'))) {
    const fixture: Fixture = JSON.parse(await readFile(join(FIXTURES, type, file), 'utf8'));
    const document = fixture.document ?? file.replace(/json$/, 'in');
    unread.delete(document);
    t.test(fixture.title, async (t) => {
      const found = await yieldOf(fixture, await readFixture(join(type, document)));
      const { object, rejected } = fixture.expected;
      const attributes = (object ?? rejected) === undefined ? { attributes: {} } : {};
      const expected: Record<string, unknown> = { warnings: [], ...attributes, ...fixture.expected };
      found.warnings = byPattern(found.warnings as string[], expected.warnings as string[]);
      const compared = Object.fromEntries(Object.keys(expected).map((key) => [key, found[key]]));
      t.strictSame(compared, joinLines(expected), `${type}/${file}`);
    });
  }
  if (unread.size > 0) t.fail(`documents of ${type} without a fixture: ${[...unread].join(' ')}`);
}
