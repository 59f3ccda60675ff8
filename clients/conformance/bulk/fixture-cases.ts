// Cases for a Broker that has loaded the fixture, so that every byte of its objects is known.
import { FIXTURE, type FixtureObject } from '../../../protocols/fixture/index.js';
import { checkNone, must, NotApplicable, type Procedure } from '../case.js';
import {
  checkFixtureUrls,
  checkObject,
  checkValues,
  FixtureCollector,
  type FixtureCopies,
  isChangedUrl,
  isFixtureUrl,
  requireFixture,
  VALUE_CASES,
} from '../fixture.js';
import type { StreamObject } from '../gatherd/stream-check.js';
import { printable } from '../printable.js';
import { type BulkCase, type BulkContext, surveyed } from './context.js';
import { PROPOSED_EVERYTHING, readReply } from './proposed-context.js';
import type { ProposedItem } from './proposed-reader.js';
import { requestTransfer } from './selection-cases.js';

const BYTES = 'G; inferred; project choice: nothing is changed on the way';

/** Times around 2^31, and the last ones that `#SINCE` knows (BT-4). */
const TIMES = [
  0x7fff_fffd, 0x7fff_fffe, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 2_999_999_999, 3_000_000_000, 0xffff_fffd,
  0xffff_fffe, 0xffff_ffff,
];

/** A word that is in each object of the fixture: in the name of its Gatherer. */
const COMMON_WORD = 'fixture';
/** Names of attributes, in the order in which they are requested. */
const NAMES: readonly string[] = [
  ...new Set(FIXTURE.flatMap(({ attributes }) => attributes.map(([name]) => name))),
];
const RESOURCE = 120;
const DESCRIPTION = 124;
const ATTRIBUTE = 127;
const ERROR = 111;

/** A query with flags, and the last parts of the URLs that it selects. */
type Selection = readonly [flags: string, query: string, names: string];

const CASE: readonly Selection[] = [
  ['#index case sensitive #index matchword', 'fxebony', 'case-1'],
  ['#index case sensitive #index matchword', 'FXEBONY', 'case-2'],
  ['#index case sensitive #index matchword', 'Fxebony', 'case-3'],
  ['#index case insensitive #index matchword', 'fxEBONY', 'case-1 case-2 case-3'],
  ['#index case insenstive #index matchword', 'FXebony', 'case-1 case-2 case-3'],
  ['#index matchword', 'Fxebony', 'case-1 case-2 case-3'],
];
const WHOLE_WORDS: readonly Selection[] = [
  ['#index case insensitive #index matchword', 'fxhazel', 'word-1 word-5'],
  ['#index case insensitive', 'fxhazel', 'word-1 word-2 word-3 word-4 word-5'],
  ['', 'fxhazel', 'word-1 word-2 word-3 word-4 word-5'],
];
const ERRORS: readonly Selection[] = [
  ['#index matchword #index error 1', 'fxmarigald', 'error-0'],
  ['#index matchword #index error 0', 'fxmarigald', ''],
  ['#index matchword', 'fxmarigald', ''],
];
const QUERIES: readonly Selection[] = [
  ['#index matchword', 'fxamber and fxbasalt', 'group-1 group-2 group-3 group-4'],
  ['#index matchword', 'fxamber and fxcobalt', 'group-1 group-3 group-4'],
  ['#index matchword', 'fxamber and not fxcobalt', 'group-2'],
  ['#index matchword', 'fxnear', 'near-1 near-2 near-3 near-4 near-5 near-6'],
];

/** The fixture, loaded by the Broker under test. All cases are skipped without it. */
export const fixtureCases: readonly BulkCase[] = [
  must('fixture/objects', 'BT-3 BT-14 BT-15', BYTES)
    .title('each object of the fixture comes once')
    .does(loaded, (copies) => checkAll(copies, '#SINCE 0')),
  must('fixture/urls', 'BT-16 SOIF-2.9', BYTES)
    .title('URLs are sent unchanged: no object has a URL that only resembles one of the fixture')
    .does(loaded, (copies) => {
      const changed = [...copies.keys()].find(isChangedUrl);
      checkNone(changed, 'a URL that the fixture does not have', 'the URLs of the fixture', printable);
    }),
  ...VALUE_CASES.map(({ name, url, purpose }) =>
    must(`fixture/value-${name}`, 'BT-16 BT-23 SOIF-2.3', BYTES)
      .title(`values are sent unchanged: ${purpose}`)
      .does(sameValues, (object) => object.url === url),
  ),
  must('fixture/value-near', 'BT-16 SOIF-2.3', BYTES)
    .title('values that differ in little stay different')
    .does(sameValues, ({ url }) => url.includes('/values/near-')),
  must('fixture/values', 'BT-16 BT-21 BT-23', BYTES)
    .title('the values of all other objects are sent unchanged')
    .does(sameValues, ({ url }) => !url.includes('/values/')),
  must('fixture/since', 'BT-4 BT-5', 'RC; inferred')
    .title('times around 2^31 and 2^32 select the objects that are later, and no others')
    .does(loaded, async (_, context) => {
      for (const since of TIMES) {
        const message = `#BULK #SINCE ${since} #END #ALLB`;
        const copies = await collect((add) => requestTransfer(context, message, add));
        const later = FIXTURE.filter(({ updateTime }) => updateTime > since).map(({ url }) => url);
        checkFixtureUrls(later, copies.keys(), message);
      }
    }),
  must('fixture/query', 'BT-6 BRK-2', 'M1.4; inferred')
    .title('queries select exactly the objects that match, with their values')
    .does(selects, QUERIES, ''),
  must('fixture/query-interface-2', 'BT-6 BP-15 BP-29', 'M1.4; inferred; project choice')
    .title('queries select the same objects in interface 2')
    .does(selects, QUERIES, '#interface 2'),
  must('fixture/index-case', 'BT-8 BRK-3.1 BRK-3.7', 'M1.4; S')
    .title('#index case decides what a query selects')
    .does(selects, CASE, ''),
  must('fixture/index-case-interface-2', 'BT-8 BP-29 BRK-3.1', 'M1.4; S; project choice')
    .title('#index case decides what a query selects in interface 2')
    .does(selects, CASE, '#interface 2'),
  must('fixture/index-matchword', 'BT-8 BRK-2.20 BRK-3.7', 'M1.4; S')
    .title('#index matchword decides what a query selects; without it parts of words match')
    .does(selects, WHOLE_WORDS, ''),
  must('fixture/index-error', 'BT-8 BRK-2.23 BRK-3.7', 'M1.4; S')
    .title('#index error decides what a query selects; without it no spelling errors are allowed')
    .does(selects, ERRORS, ''),
  must('fixture/index-maxresult', 'BT-8 BRK-8.11', 'S; M1.4')
    .title('#index maxresult is the number of objects that a query selects')
    .does(limits, 'maxresult'),
  must('fixture/index-maxfiles', 'BT-8 BRK-8.11', 'RC')
    .title('#index maxfiles is the number of objects that a query selects')
    .does(limits, 'maxfiles'),
  must('fixture/interface-2', 'BP-15 BT-16 BT-23', `S; ${BYTES}`)
    .title('interface 2 sends the same objects and values')
    .does(sameAsFixture, PROPOSED_EVERYTHING),
  must('fixture/compressed', 'BP-16 BT-16', `S; ${BYTES}`)
    .title('a compressed Body of interface 2 has the same objects and values')
    .does(sameAsFixture, '#BULK #SINCE 0 #interface 2 #compress #END #ALLB'),
  must('fixture/listed-values', 'BP-20 BP-13 BP-4', `S; ${BYTES}`)
    .title('ATTRIBUTE of interface 2 has the bytes of the value')
    .does(listed, ATTRIBUTE),
  must('fixture/listed-descriptions', 'BP-19 BP-4', `S; ${BYTES}`)
    .title('DESCRIPTION of interface 2 has the bytes of the description')
    .does(listed, DESCRIPTION),
];

/** Looks at the objects of the fixture; skips the case for a Broker without them. */
function loaded(
  verify: (copies: FixtureCopies, context: BulkContext) => void | Promise<void>,
): Procedure<BulkContext> {
  return surveyed(async ({ fixture }, context) => {
    requireFixture(fixture.keys());
    await verify(fixture, context);
  });
}

/** Makes a request and returns its updates of the fixture. */
async function collect(
  request: (add: (item: StreamObject) => void) => Promise<unknown>,
): Promise<FixtureCopies> {
  const collector = new FixtureCollector();
  await request((item) => {
    if (item.section === 'update') collector.add(item);
  });
  return collector.copies;
}

/** Checks that the objects are those of the fixture, each once. @throws Mismatch */
function checkAll(copies: FixtureCopies, what: string): void {
  checkFixtureUrls(
    FIXTURE.map(({ url }) => url),
    copies.keys(),
    what,
  );
  checkOnce(copies);
}

function checkOnce(copies: FixtureCopies): void {
  const [twice] = [...copies].filter(([url, found]) => isFixtureUrl(url) && found.length > 1);
  checkNone(twice, 'an object comes twice', 'each URL once', ([url]) => printable(url));
}

/** Compares the values of some objects with the fixture. */
function sameValues(selects: (object: FixtureObject) => boolean): Procedure<BulkContext> {
  return loaded((copies) => {
    for (const object of FIXTURE.filter(selects)) checkObject(object, copies);
  });
}

/** Requests everything in interface 2 and compares it with the fixture. */
function sameAsFixture(message: string): Procedure<BulkContext> {
  return loaded(async (_, context) => {
    const copies = await collect(async (add) => {
      const { groups } = await readReply(context, message, add);
      if (groups === undefined) throw new NotApplicable('the broker refuses the request');
    });
    checkAll(copies, message);
    for (const object of FIXTURE) checkObject(object, copies);
  });
}

/** Sends a query and returns its updates of the fixture. @throws NotApplicable if it is refused */
function selected(context: BulkContext, message: string): Promise<FixtureCopies> {
  return collect(async (add) => {
    if (!message.includes('#interface 2')) {
      await requestTransfer(context, message, add, 'skip');
      return;
    }
    const { items } = await readReply(context, message, add);
    const error = items.find(({ code }) => code === ERROR);
    if (error !== undefined)
      throw new NotApplicable(`the broker refuses the query: ${printable(error.text)}`);
  });
}

/** Checks that queries select exactly these objects, with their values. */
function selects(selections: readonly Selection[], more: string): Procedure<BulkContext> {
  return loaded(async (_, context) => {
    for (const [flags, query, names] of selections) {
      const message = `#BULK #SINCE 0 ${more} ${flags} #END ${query}`.replace(/ {2,}/g, ' ');
      const copies = await selected(context, message);
      const expected = FIXTURE.filter(
        ({ url }) => names !== '' && names.split(' ').includes(url.replace(/^.*\//, '')),
      );
      checkFixtureUrls(
        expected.map(({ url }) => url),
        copies.keys(),
        message,
      );
      checkOnce(copies);
      for (const object of expected) checkObject(object, copies);
    }
  });
}

/** Checks how many of four objects a limit selects. */
function limits(flag: string): Procedure<BulkContext> {
  return loaded(async (_, context) => {
    for (const [limit, objects] of [
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
      [5, 4],
      [0, 4],
    ] as const) {
      const message = `#BULK #SINCE 0 #index matchword #index ${flag} ${limit} #END fxamber`;
      const copies = await selected(context, message);
      checkOnce(copies);
      const wrong = copies.size === objects ? undefined : copies.size;
      checkNone(wrong, `another number with ${flag} ${limit}`, `${objects} objects`);
      for (const object of FIXTURE.filter(({ url }) => copies.has(url))) checkObject(object, copies);
    }
  });
}

/** Compares the values of an ObjectList with the fixture. */
function listed(wanted: number): Procedure<BulkContext> {
  const flags = wanted === DESCRIPTION ? '#desc' : NAMES.map((name) => `#attribute ${name}`).join(' ');
  const only = wanted === DESCRIPTION ? ['Description'] : undefined;
  return loaded(async (_, context) => {
    const message = `#USER ${flags} #interface 2 #opaque #index case insensitive #index matchword #END ${COMMON_WORD}`;
    const { items } = await readReply(context, message);
    const error = items.find(({ code }) => code === ERROR);
    if (error !== undefined) throw new NotApplicable(`the broker refuses it: ${printable(error.text)}`);
    const values = valuesIn(items, wanted);
    requireFixture(values.keys());
    for (const object of FIXTURE) {
      // The Broker may limit the number of results.
      const found = values.get(object.url);
      if (found !== undefined) checkValues(object, found, only);
    }
  });
}

type ListedValue = { readonly name: string; readonly value: Uint8Array };

/** Returns the values of an ObjectList by URL: ATTRIBUTE with its name, DESCRIPTION as `Description`. */
function valuesIn(items: readonly ProposedItem[], wanted: number): ReadonlyMap<string, ListedValue[]> {
  const values = new Map<string, ListedValue[]>();
  let open: ListedValue[] = [];
  for (const { code, text, value } of items) {
    if (code === RESOURCE) {
      open = [];
      values.set(text, open);
    } else if (code === wanted && value !== undefined) {
      open.push({ name: wanted === DESCRIPTION ? 'Description' : text, value });
    }
  }
  return values;
}
