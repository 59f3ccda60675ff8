// The test suite of the contract of Indexer, for the engines of this package and for others.
import assert from 'node:assert/strict';
import { PeerError } from '../../protocols/errors.js';
import { encodeSoif } from '../../protocols/soif/index.js';
import {
  expressionOf,
  IndexerFixture,
  type ObjectAttributes,
  type OpenIndexerAt,
  objectOf,
  PLAIN_SEARCH,
} from './conformance-fixture.js';
import type { IndexerCapabilities, SearchOptions } from './contract.js';

export type { IndexerDirectories } from './conformance-fixture.js';

/** The `test` function of node:test, of tap, or of another runner. */
export type TestRunner = (name: string, run: () => Promise<void>) => unknown;

/** The features of an engine; the tests of a feature that it does not have are skipped. */
export interface IndexerManifest {
  /**
   * The capabilities that the engine declares. A kind of query that it does not answer must be refused
   * (BRK-2.19).
   */
  readonly capabilities: IndexerCapabilities;
  /** An engine that is opened again on its directory has its index and watermark. Default true. */
  readonly persistence?: boolean;
  /**
   * After `clear` the former index answers until the next flush. Default true; if false, the index is empty
   * immediately.
   */
  readonly rebuildBeside?: boolean;
}

export interface IndexerConformance {
  readonly test: TestRunner;
  /** The start of the tests' names. */
  readonly name: string;
  /** Opens an engine; the same directory may be opened again after the close. */
  readonly open: OpenIndexerAt;
  readonly manifest: IndexerManifest;
}

type Search = (query: string, options?: Partial<SearchOptions>) => Promise<number[]>;

/** The objects of the tests; their OIDs are 1, 2 and 3. */
const OBJECTS: readonly ObjectAttributes[] = [
  {
    url: 'http://alpha.example/techreports/index.html',
    Title: 'Neural Networks\nand their garbage collection\n',
    Keywords: 'neural\nnetwork\n',
    Year: '1994',
    Author: 'Ada Lovelace\n',
  },
  {
    url: 'http://beta.example/',
    title: 'A network of human-computer interfaces',
    Description: 'It costs US$ 100 and  spans\tblanks; see foo_bar and C++ (draft).',
    Year: '2003',
    Author: 'Lovelace',
  },
  {
    url: 'http://gamma.example/straße',
    Title: 'STRASSE Ünïcode ΣΑΣ İstanbul 😀 naïve',
    'Embed<1>-Title': 'neural inside',
    Body: 'first line\r\nsecond humanXcomputer line\nthird and the words\n',
    Year: 'unknown',
  },
];

/** Texts in the spellings of typography, and without. */
const SPELLINGS: readonly ObjectAttributes[] = [
  {
    Title: 'cafe\u0301 soft\u00adware zero\u200bwidth hid\ufeffden',
    Body: 'Banquo\u2019s ghost, the retry\u2010backoff of a virt-weekly \u2014 tool',
  },
  { Title: 'caf\u00e9 software', Body: "Banquo's d'Actium, retry backoff, a -v and a weekly-" },
  { Title: 'cafe Straße \ufb01le \u05e9\u05c1\u05dc\u05d5\u05dd мой ёлка', Body: 'ΣΑΣ' },
];

/** Objects with words that are no content, and with identifiers. */
const CONTENT: readonly ObjectAttributes[] = [
  {
    url: 'http://host.example/directory/pg_hba-notes.html?show=Some+page',
    Title: 'StringBuilder and pg_hba.conf',
    Body: 'HashMap.computeIfAbsent of java.util.ArrayList',
    MD5: 'cafe',
    'Gatherer-Comment': 'cafe',
    'Url-References': 'http://other.example/cafe',
  },
  { url: 'http://host.example/b', Title: 'string', Body: 'a builder of a cafe' },
];

const WORD = { matchWord: true } as const;
const NO_CASE = { ignoreCase: true } as const;

/**
 * Registers the tests of the contract of {@link Indexer} (BRK sections 2 and 8). They assert with node:assert.
 */
export function indexerConformance(conformance: IndexerConformance): void {
  queryTests(conformance);
  resultTests(conformance);
  updateTests(conformance);
}

/** Tests of what matches. */
function queryTests({ test, name, open, manifest: { capabilities: can } }: IndexerConformance): void {
  const define = (title: string, needs: boolean, run: (oids: Search) => Promise<void>): void => {
    if (!needs) return;
    test(`${title} (${name})`, async () => {
      await using base = await IndexerFixture.openWith(open);
      await base.put(...OBJECTS);
      await run((query, options) => base.oids(query, options));
    });
  };

  define('BRK-2.20 whole words', can.words, async (oids) => {
    same(await oids('network', WORD), [1, 2]);
    same(await oids('etwor', WORD), []);
    same(await oids('foo', WORD), [], 'an underscore belongs to the word');
    same(await oids('foo_bar', WORD), [2]);
    same(await oids('"C++"', WORD), [2], 'only the ends of the whole term are bounded');
  });

  const defineSpelling = (
    title: string,
    objects: readonly ObjectAttributes[],
    run: (oids: Search) => Promise<void>,
  ): void => {
    if (!can.accents) return;
    test(`${title} (${name})`, async () => {
      await using base = await IndexerFixture.openWith(open);
      await base.put(...objects);
      await run((query, options) => base.oids(query, { ...NO_CASE, ...WORD, ...options }));
    });
  };

  defineSpelling('BRK-2.20 a text is one, whatever code points spell it', SPELLINGS, async (oids) => {
    for (const query of ['caf\u00e9', 'cafe\u0301', 'CAFE\u0301']) same(await oids(query), [1, 2], query);
    same(await oids('cafe'), [3]);
    for (const query of ['software', 'soft\u00adware', 's\u200doftware'])
      same(await oids(query), [1, 2], query);
    same(await oids('zerowidth and hidden'), [1]);
    for (const query of [`"Banquo's"`, '"Banquo\u2019s"', '"banquo\u02bcs"'])
      same(await oids(query), [1, 2], query);
    same(await oids('"d\u2019Actium"'), [2]);
    for (const query of ['retry-backoff', '"retry backoff"', 'retry\u2011backoff'])
      same(await oids(query), [1, 2], query);
    same(await oids('"virt weekly"'), [1]);
    same(await oids('"weekly tool"'), [], 'a dash separates phrases');
    if (can.substrings) {
      same(await oids('weekly-', { matchWord: false }), [2], 'a hyphen at an end is itself');
      same(await oids('ry-back', { matchWord: false }), [1, 2]);
    }
    if (can.caseSensitive) same(await oids('ΣΑς', { ignoreCase: false }), []);
    same(await oids('σας'), [3]);
  });

  defineSpelling('BRK-2.25 accents count unless a request says otherwise', SPELLINGS, async (oids) => {
    const letters = { ignoreAccents: true } as const;
    for (const query of ['cafe', 'caf\u00e9', 'C\u00c0FE', '\uff43\uff41\uff46\uff45'])
      same(await oids(query, letters), [1, 2, 3], query);
    for (const query of ['strasse', 'STRASSE', 'straße']) same(await oids(query, letters), [3], query);
    for (const query of ['file', '\u05e9\u05dc\u05d5\u05dd', 'елка', 'мой'])
      same(await oids(query, letters), [3], query);
    same(await oids('мои', letters), [], 'another letter');
    same(await oids('"cafe software"', letters), [1, 2]);
    same(await oids('"cafe strasse"', letters), [3]);
    same(await oids('title : cafe', letters), [1, 2, 3]);
    same(await oids('file'), []);
    if (can.substrings) same(await oids('trass', { ...letters, matchWord: false }), [3]);
    if (can.errors > 0) same(await oids('strase', { ...letters, errors: 1 }), [3]);
    if (can.regexp) same(await oids('caf[e]', letters), [1, 2, 3]);
  });

  defineSpelling('BRK-2.26 a request for content passes over what programs keep', CONTENT, async (oids) => {
    const content = { contentOnly: true } as const;
    same(await oids('cafe'), [1, 2]);
    same(await oids('cafe', content), [2]);
    if (can.attributes) same(await oids('md5 : cafe', content), [1], 'by its name');
    for (const query of ['host', 'directory', 'http', 'other']) same(await oids(query, content), [], query);
    for (const query of ['notes', 'some', '"some page"']) same(await oids(query, content), [1], query);
    if (can.not) same(await oids('not cafe', content), [1]);
  });

  defineSpelling('BRK-2.26 content has identifiers whole and by their parts', CONTENT, async (oids) => {
    const content = { contentOnly: true } as const;
    for (const query of [
      'stringbuilder',
      'HashMap',
      'computeIfAbsent',
      'pg_hba',
      'hba',
      'hash',
      'absent',
      'arraylist',
    ])
      same(await oids(query, content), [1], query);
    same(await oids('"java\\.util\\.ArrayList"', content), [1]);
    same(await oids('"pg_hba\\.conf"', content), [1]);
    for (const query of ['"string builder"', '"compute if absent"', '"pg hba"'])
      same(await oids(query, content), [1], query);
    same(await oids('string builder', content), [1, 2]);
    same(await oids('string builder', {}), [2], 'not without the request');
    for (const query of ['tring', '"builder pg"', '"map compute"'])
      same(await oids(query, content), [], query);
  });

  define('BRK-2.20 parts of words', can.substrings, async (oids) => {
    same(await oids('etwor'), [1, 2]);
    same(await oids('C++'), [2]);
  });

  define(
    'BRK-3.7 case is significant unless it is ignored, in any script',
    can.caseSensitive,
    async (oids) => {
      same(await oids('Neural', WORD), [1]);
      same(await oids('NEURAL', WORD), []);
      same(await oids('NEURAL', { ...NO_CASE, ...WORD }), [1, 3]);
      same(await oids('üNÏCODE', { ...NO_CASE, ...WORD }), [3]);
      same(await oids('σας', { ...NO_CASE, ...WORD }), [3], 'a final sigma is a sigma');
      same(await oids('😀'), [3]);
      if (can.substrings) same(await oids('σα', NO_CASE), [3]);
    },
  );

  define('BRK-2.5 a phrase is in one line, and runs of blanks are equal', can.phrases, async (oids) => {
    same(await oids('"and spans blanks"', WORD), [2]);
    same(await oids('"Networks and"', WORD), [], 'not across lines');
    same(await oids('"garbage collection"', WORD), [1]);
    same(await oids('"first line"', WORD), [3], 'CR LF ends a line too');
    if (can.substrings) same(await oids('"arbage collect"'), [1]);
  });

  define('BRK-2.12, 2.13 and, or apply to the whole object', can.words, async (oids) => {
    same(await oids('neural and Lovelace', WORD), [1]);
    same(await oids('collection or draft', WORD), [1, 2]);
    same(await oids('zzz and neural', WORD), []);
  });

  define('BRK-2.13, 2.21 not, except apply to the whole object', can.not, async (oids) => {
    const indexOnly = { ...NO_CASE, ...WORD, wantLines: false };
    same(await oids('not neural', WORD), [2]);
    same(await oids('network except neural', WORD), [2]);
    same(await oids('not (neural or draft)', WORD), []);
    same(await oids('not zzz', { ...NO_CASE, ...WORD }), [1, 2, 3]);
    same(await oids('not inside', indexOnly), [1, 2]);
  });

  define('BRK-2.14, 2.16, 2.18 a structured term selects one attribute', can.attributes, async (oids) => {
    same(await oids('title : network', WORD), [2]);
    same(await oids('KEYWORDS : network', WORD), [1]);
    same(await oids('url : techreports', WORD), [1]);
    same(await oids('title : neural', WORD), [], 'not the title of an embedded object');
    same(await oids('"embed<1>-title" : neural', WORD), [3]);
    same(await oids('body : second', { ...NO_CASE, ...WORD, wantLines: false }), [3]);
    same(await oids('nothing : second', WORD), []);
  });

  define('BRK-2.17 exact', can.attributes, async (oids) => {
    same(await oids('author exact Lovelace'), [2]);
    same(await oids('author exact "Ada Lovelace"'), [1], 'a final newline is ignored');
    same(await oids('author exact "ada lovelace"', NO_CASE), [1]);
    same(await oids('url exact "http://beta.example/"'), [2]);
  });

  define('BRK-2.17 regexp', can.attributes && can.regexp, async (oids) => {
    same(await oids('title regexp "^Neural.*works$"'), [1]);
    same(await oids('title regexp "H[UM]+AN"', NO_CASE), [2]);
  });

  define('BRK-2.17 less-than, greater-than', can.attributes && can.comparison, async (oids) => {
    same(await oids('year less-than 2000'), [1]);
    same(await oids('year greater-than 2000'), [2, 3], 'not a number: compared as bytes');
    same(await oids('year greater-than 1994.5'), [2, 3]);
    same(await oids('year less-than unknown'), [1, 2]);
  });

  define(
    'BRK-2.22 pattern characters in words',
    can.regexp && can.substrings && can.phrases,
    async (oids) => {
      same(await oids('"human.computer"'), [2, 3]);
      same(await oids('human.computer', { ...NO_CASE, ...WORD }), [2, 3]);
      same(await oids('hum#face'), [2]);
      same(await oids('"^first"'), [3]);
      same(await oids('"line$"'), [3]);
      same(await oids('"US$ 100"'), [2], 'inside a word a dollar is a dollar');
      same(await oids('"human\\.computer"'), []);
      same(await oids('ga[p-s]bage'), [1]);
      same(await oids('"garbage|draft"'), [1, 2]);
      same(await oids('"dra(ft|gon)"'), [2]);
      same(await oids('"(draft)"'), [2]);
      same(await oids('"[abc"'), [], 'not a pattern: it means its characters');
      same(await oids('"hello\\ there" or "spans\\ blanks"'), [2]);
    },
  );

  define('BRK-2.23 one spelling error', can.errors >= 1 && can.substrings, async (oids) => {
    const one = { errors: 1 };
    same(await oids('garbige', one), [1]);
    same(await oids('grbage', one), [1]);
    same(await oids('garbbage', one), [1]);
    same(await oids('grbige', one), []);
    same(await oids('colection', { ...one, ...WORD }), [1]);
    same(await oids('collect', { ...one, ...WORD }), []);
    if (can.attributes && can.phrases) same(await oids('author : "Ada Lowelace"', one), [1]);
  });

  define('BRK-2.23 several spelling errors', can.errors >= 2 && can.substrings, async (oids) => {
    same(await oids('grbige', { errors: 2 }), [1]);
    if (can.phrases) same(await oids('"😁 naive"', { errors: 2 }), [3], 'a character is a code point');
    same(await oids('Q', { errors: can.errors }), [], 'fewer errors than characters');
  });

  test(`BRK-2.19, 4.18 an unsupported query is refused at the first hit (${name})`, async () => {
    await using base = await IndexerFixture.openWith(open);
    await base.put(...OBJECTS);
    const unsupported: [query: string, supported: boolean, options?: Partial<SearchOptions>][] = [
      ['not neural', can.not],
      ['network except neural', can.not],
      ['"garbage collection"', can.phrases],
      ['title : network', can.attributes],
      ['title regexp "^Neural"', can.attributes && can.regexp],
      ['ga[p-s]bage', can.regexp],
      ['year less-than 2000', can.attributes && can.comparison],
      ['garbage', can.errors >= 8, { errors: can.errors + 1 }],
      ['garbage', false, { errors: 9 }],
    ];
    for (const [query, supported, options] of unsupported) {
      if (supported) continue;
      await assert.rejects(base.search(query, options), (error) => {
        assert.ok(error instanceof PeerError && error.status === 111, `${query}: ${String(error)}`);
        assert.match(error.message, /^ERROR: \S+ does not support /);
        return true;
      });
    }
  });
}

/** Tests of lines, limits, order, and of the end of an iteration. */
function resultTests({ test, name, open, manifest: { capabilities: can } }: IndexerConformance): void {
  const define = (title: string, needs: boolean, run: (base: IndexerFixture) => Promise<void>): void => {
    if (!needs) return;
    test(`${title} (${name})`, async () => {
      await using base = await IndexerFixture.openWith(open);
      await base.put(...OBJECTS);
      await run(base);
    });
  };

  define('BRK-4.7, 4.8 matched lines are those of the SOIF text', can.words, async (base) => {
    const lines = async (query: string, options: Partial<SearchOptions> = {}) =>
      (await base.search(query, { ...WORD, ...options }))[0]?.lines;
    same(await lines('collection'), [
      { attribute: 'Title', text: 'and their garbage collection', first: false },
    ]);
    same(await lines('Neural'), [{ attribute: 'Title', text: 'Title{45}:\tNeural Networks', first: true }]);
    same(await lines('beta'), [{ attribute: 'url', text: '@FILE { http://beta.example/', first: true }]);
    same(
      (await lines('collection or Ada'))?.map(({ attribute }) => attribute),
      ['Title', 'Author'],
      'in the order of the object',
    );
    same(await lines('neural', { wantLines: false }), []);
    if (can.not) same(await lines('not neural'), [], 'a word that is absent has no line');
    if (can.attributes)
      same(await lines('author exact Lovelace'), [
        { attribute: 'Author', text: 'Author{8}:\tLovelace', first: true },
      ]);
  });

  define('BRK-8.11 limits of lines, of objects and of lines of an object', can.substrings, async (base) => {
    const all = await base.searchAll('e');
    same(all.outcome, { complete: true, warnings: [] });
    const linesOf = (hits: typeof all.hits) => hits.reduce((sum, hit) => sum + hit.lines.length, 0);
    assert.ok(linesOf(all.hits) > 6);
    const results = await base.searchAll('e', { maxResults: 2 });
    assert.equal(linesOf(results.hits), 2);
    same(results.outcome, { complete: false, reason: 'limit', warnings: [] });
    assert.equal((await base.search('e', { maxFiles: 2 })).length, 2);
    assert.ok((await base.search('e', { maxLines: 1 })).every((hit) => hit.lines.length === 1));
    assert.equal((await base.search('e', { maxResults: 2, wantLines: false })).length, 2);
    same(await base.searchAll('e', { maxResults: 0, maxFiles: 0, maxLines: 0 }), all, '0 means no limit');
  });

  define('hits carry a score and are in its order', can.score, async (base) => {
    const hits = await base.search('network', { ...NO_CASE, ...WORD });
    const scores = hits.map(({ score }) => score ?? Number.NaN);
    assert.equal(scores.length, 2);
    assert.ok(scores[0]! >= scores[1]!, `${scores}`);
  });

  define('results can be iterated once', true, async (base) => {
    const results = base.indexer.query(expressionOf('network'), PLAIN_SEARCH);
    for await (const _ of results) assert.ok(results);
    assert.throws(() => results[Symbol.asyncIterator](), { code: 'ERR_STATE' });
  });

  define('an abandoned query ends as aborted', true, async (base) => {
    const expression = expressionOf('network or first');
    const left = base.indexer.query(expression, { ...PLAIN_SEARCH, ...WORD });
    for await (const _ of left) break;
    const { complete, reason } = await left.outcome;
    assert.ok(
      complete || reason === 'aborted',
      'an abandoned query is aborted unless all hits were found before',
    );
    const signal = AbortSignal.abort();
    const aborted = base.indexer.query(expression, { ...PLAIN_SEARCH, ...WORD, signal });
    for await (const _ of aborted) assert.fail('a hit after the abort');
    assert.equal((await aborted.outcome).reason, 'aborted');
  });

  define('wrong calls are refused', true, async (base) => {
    await assert.rejects(base.search('a', { errors: -1 }), RangeError);
    await base.indexer.close();
    await base.indexer.close();
    assert.throws(() => base.indexer.query(expressionOf('network'), PLAIN_SEARCH), { code: 'ERR_STATE' });
    await assert.rejects(base.indexer.beginUpdate(), { code: 'ERR_STATE' });
  });
}

/** Tests of indexing runs. */
function updateTests({ test, name, open, manifest }: IndexerConformance): void {
  const { capabilities, persistence = true, rebuildBeside = true } = manifest;
  const define = (title: string, run: (base: IndexerFixture) => Promise<void>): void => {
    test(`${title} (${name})`, async () => {
      await using base = await IndexerFixture.openWith(open);
      await run(base);
    });
  };

  define('BRK-8.2 changes need a run; add replaces an object, remove deletes it', async (base) => {
    const { indexer } = base;
    same(indexer.capabilities, capabilities);
    assert.equal(indexer.watermark, 0);
    await assert.rejects(indexer.add(1, new Uint8Array()), { code: 'ERR_STATE' });
    await base.put({ Title: 'one apple' }, { Title: 'two apples' });
    assert.equal(indexer.watermark, base.store.lastSequence);
    same(await base.oids('apple', WORD), [1]);
    await base.putSoif([objectOf({ url: 'http://h/1', Title: 'one pear' }, 2)]);
    same(await base.oids('apple', WORD), []);
    same(await base.oids('pear', WORD), [1]);
    await base.store.remove([1]);
    await base.catchUp();
    same(await base.oids('pear', WORD), []);
    same(await base.oids('pear', { ...NO_CASE, ...WORD, wantLines: false }), []);
    await indexer.beginUpdate();
    await indexer.remove(4_000_000_000);
    await indexer.flush(9);
    assert.equal(indexer.watermark, 9, 'an unknown OID is ignored');
    same(await base.oids('two', WORD), [2]);
  });

  define('an object that the store does not have is not a hit', async (base) => {
    await base.put({ Title: 'apple' });
    await base.indexer.beginUpdate();
    await base.indexer.add(77, encodeSoif(objectOf({ Title: 'apple' })));
    await base.indexer.flush(base.indexer.watermark);
    same(await base.oids('apple', WORD), [1]);
  });

  if (persistence)
    define('BRK-8.3 an engine that is opened again has its index and watermark', async (base) => {
      await base.put({ Title: 'one apple' });
      await base.indexer.beginUpdate();
      await base.indexer.flush(9);
      await base.reopenWith(open);
      assert.equal(base.indexer.watermark, 9);
      same(await base.oids('apple', WORD), [1]);
    });

  define(
    'BRK-5.1 the number of objects, if the engine knows it, is that of the objects that were not removed',
    async (base) => {
      if (base.indexer.objects === undefined) return;
      const counted = (expected: number, message: string) =>
        assert.equal(base.indexer.objects, expected, message);
      counted(0, 'an empty index');
      await base.put({ Title: 'one' }, { Title: 'two' }, { Title: 'three' });
      counted(3, 'three were added');
      await base.putSoif([objectOf({ url: 'http://h/1', Title: 'one again' }, 2)]);
      counted(3, 'one was replaced');
      await base.store.remove([2]);
      await base.catchUp();
      counted(2, 'one was removed');
      await base.indexer.beginUpdate();
      await base.indexer.remove(77);
      await base.indexer.remove(2);
      await base.indexer.flush(base.indexer.watermark);
      counted(2, 'unknown ones were removed');
      await base.indexer.beginUpdate();
      await base.indexer.add(88, encodeSoif(objectOf({ Title: 'twice' })));
      await base.indexer.add(88, encodeSoif(objectOf({ Title: 'twice' })));
      await base.indexer.remove(3);
      await base.indexer.add(3, encodeSoif(objectOf({ Title: 'three' })));
      await base.indexer.flush(base.indexer.watermark);
      counted(3, 'one was added twice, one removed and added again, in one run');
      if (persistence) {
        await base.reopenWith(open);
        counted(3, 'the engine was opened again');
      }
      await base.indexer.clear();
      await base.indexer.add(88, encodeSoif(objectOf({ Title: 'twice' })));
      await base.indexer.flush(base.indexer.watermark);
      counted(1, 'a rebuild with one object');
    },
  );

  define('BRK-8.1 clear starts a full rebuild', async (base) => {
    await base.put({ Title: 'one apple' }, { Title: 'two apples' });
    const { watermark } = base.indexer;
    await base.indexer.clear();
    assert.equal(base.indexer.watermark, rebuildBeside ? watermark : 0);
    same(await base.oids('one or two', WORD), rebuildBeside ? [1, 2] : []);
    const [object] = await base.store.objects([2]);
    await base.indexer.add(2, object!);
    await base.indexer.flush(watermark);
    assert.equal(base.indexer.watermark, watermark);
    same(await base.oids('one or two', WORD), [2], 'only objects added since');
  });
}

function same(actual: unknown, expected: unknown, message?: string): void {
  assert.deepEqual(actual, expected, message);
}
