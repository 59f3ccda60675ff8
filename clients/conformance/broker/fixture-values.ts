// Cases for a Broker that has loaded the fixture: the bytes that it sends, and how many objects and lines.
import { FIXTURE, type FixtureObject } from '../../../protocols/fixture/index.js';
import { check, checkEqual, checkNone, must, NotApplicable, type Procedure, should } from '../case.js';
import { checkBytes, checkFixtureUrls, checkObject, isFixtureUrl, VALUE_CASES } from '../fixture.js';
import { printable } from '../printable.js';
import { checkNotRefused, urlsOf } from './checks.js';
import { type BrokerCase, type BrokerContext, PLAIN_FLAGS } from './context.js';
import {
  attributed,
  checkCount,
  checkEach,
  checkOnce,
  loaded,
  timed,
  urlNamed,
  valued,
} from './fixture-checks.js';
import { ATTRIBUTE_NAMES } from './fixture-data.js';
import { type FoundObject, type Reply, textsOf } from './reply.js';

const BYTES = 'RC; inferred; project choice: nothing is changed on the way';

/** Flags with which lines are sent, for either meaning of `#opaque` (BRK-3.2). */
const LINE_FLAGS = ['', '#opaque'] as const;

/** The names of all attributes but Update-Time, which a Broker may have replaced (GATHERD-13.10). */
const LASTING_NAMES = ATTRIBUTE_NAMES.filter((name) => name !== 'Update-Time');

/** Lines of objects that match a query: the last part of the URL, and the lines after `Matched line: `. */
const LINES: readonly (readonly [query: string, lines: Readonly<Record<string, readonly string[]>>])[] = [
  [
    'fxiris',
    {
      'matches-1': [
        'Title# Title{6}:\tfxiris',
        'Description# Description{31}:\tfxiris here',
        'Description# fxiris there',
        'Description# fxiris',
      ],
      'matches-2': [
        'Title# Title{6}:\tfxiris',
        'Description# Description{24}:\ta fxiris',
        'Description# fxiris b',
        'Description# fxiris',
      ],
      'matches-3': [
        'Title# Title{6}:\tfxiris',
        'Description# Description{24}:\tfxiris',
        'Description# fxiris c',
        'Description# d fxiris',
      ],
    },
  ],
  [
    'title : fxamber',
    {
      'group-1': ['Title# Title{16}:\tfxamber fxbasalt'],
      'group-2': ['Title# Title{7}:\tfxamber'],
    },
  ],
  ['fxdamask and (fxcobalt or fxmarigold)', { 'group-4': ['Title# Title{17}:\tfxcobalt fxdamask'] }],
  ['fxdamask and not fxcobalt', { 'group-2': ['Description# Description{17}:\tfxbasalt fxdamask'] }],
  ['fxamber and not (fxbasalt and fxcobalt)', { 'group-2': ['Title# Title{7}:\tfxamber'] }],
  ['fxamber except (fxbasalt and fxcobalt)', { 'group-2': ['Title# Title{7}:\tfxamber'] }],
  [
    'fxamber and not (fxlazuli or not fxdamask)',
    {
      'group-2': ['Title# Title{7}:\tfxamber', 'Description# Description{17}:\tfxbasalt fxdamask'],
      'group-4': ['Title# Title{17}:\tfxcobalt fxdamask', 'Description# Description{16}:\tfxamber fxbasalt'],
    },
  ],
  [
    'fxamber and not (fxbasalt except fxdamask)',
    {
      'group-4': ['Title# Title{17}:\tfxcobalt fxdamask', 'Description# Description{16}:\tfxamber fxbasalt'],
    },
  ],
  ['fxlatin', { 'latin-1': ['Title# Title{20}:\tGr\xf6\xdfe \xe9t\xe9 \xa0\xff fxlatin'] }],
  [
    'fxnear and not "near duplicate" and "near duplicat"',
    { 'near-6': ['Title# Title{13}:\tnear duplicat', 'Description# Description{6}:\tfxnear'] },
  ],
  [
    'fxblanks',
    { blanks: ['Title# Title{27}:\t  fxblanks  of \t a title \t ', 'Description#  \t fxblanks  '] },
  ],
  ['url : "times/4294967296"', { '4294967296': ['url# @FILE { http://fixture.example/times/4294967296'] }],
];

/** What a Broker sends of the fixture. All cases are skipped without it. */
export const fixtureValueCases: readonly BrokerCase[] = [
  must('fixture/layout', 'BRK-4.1 BRK-4.4', 'S; RC')
    .title('items keep their form, whatever the counted bytes before them are')
    .does(valued, ({ reply }) => {
      const [problem] = reply.problems;
      checkNone(problem, 'the layout of the reply is broken', 'NNN - text', ({ text }) => text);
      for (const { url, ended } of reply.objects) {
        check(ended, `an object has no end: ${printable(url)}`, {
          expected: '130 - object end',
          received: 'none',
        });
      }
    }),
  ...VALUE_CASES.map(({ name, url, purpose }) =>
    must(`fixture/value-${name}`, 'BRK-4.6 BRK-4.4', BYTES)
      .title(`127 has the bytes of the value: ${purpose}`)
      .does(sameValues, (object) => object.url === url),
  ),
  must('fixture/value-near', 'BRK-4.6 BRK-4.4', BYTES)
    .title('127: values that differ in little stay different')
    .does(sameValues, ({ url }) => url.includes('/values/near-')),
  must('fixture/values', 'BRK-4.6 BRK-4.4', BYTES)
    .title('127 has the bytes of the values of all other objects')
    .does(sameValues, ({ url }) => !url.includes('/values/')),
  must('fixture/times', 'BRK-4.6 BRK-4.4', BYTES)
    .title('127 has Update-Times around 2^31 and 2^32 unchanged, if the Broker has kept them')
    .does(timed, (_, { copies }) => {
      for (const object of FIXTURE) checkObject(object, copies, ['Update-Time']);
    }),
  must('fixture/descriptions', 'BRK-4.5 BRK-4.4', `S; ${BYTES}`)
    .title('124 has the bytes of the description, once for each object that has one')
    .does(valued, ({ reply }) => {
      for (const object of FIXTURE) {
        const found = reply.objects.find(({ url }) => url === object.url);
        checkDescription(object, found);
      }
    }),
  must('fixture/url-attribute', 'BRK-4.6 BRK-2.18', 'RC; project choice')
    .title('#attribute url gives the URL of the object')
    .does(attributed, async (_, context) => {
      const reply = await context.ask(`#USER #attribute url ${PLAIN_FLAGS} #END fxurl`);
      checkNotRefused(reply, '#attribute url');
      for (const { url, items } of reply.objects.filter(({ url }) => isFixtureUrl(url))) {
        const values = items.filter(({ code }) => code === 127);
        checkCount(values.length, 1, `values of url: ${printable(url)}`);
        checkBytes(url, values[0]?.value ?? Buffer.alloc(0), `url of ${printable(url)}`);
      }
    }),
  must('fixture/attribute-any-case', 'BRK-2.16 BRK-4.6', 'RC; inferred: G')
    .title('#attribute knows names in any case, and sends them as requested')
    .does(attributed, async (_, context) => {
      const names = ['tITLE', 'mixed-case', 'EMBED<1>-title', 'fixture_name.1', 'AUTHOR-2'];
      const flags = names.map((name) => `#attribute ${name}`).join(' ');
      const reply = await context.ask(`#USER ${flags} ${PLAIN_FLAGS} #END fxnames`);
      checkNotRefused(reply, flags);
      const received = namesOf(reply.objects.find(({ url }) => url === urlNamed('names')));
      checkEqual(received.toSorted().join(' '), names.toSorted().join(' '), 'other names', printable);
    }),
  should('fixture/attribute-order', 'BRK-4.3 BRK-3.6', 'RC; project choice')
    .title('values come in the order of the request, not in that of the object')
    .does(attributed, async (_, context) => {
      for (const names of [
        ['keywords', 'title', 'description'],
        ['description', 'md5', 'title', 'keywords'],
      ]) {
        const flags = names.map((name) => `#attribute ${name}`).join(' ');
        const reply = await context.ask(`#USER ${flags} ${PLAIN_FLAGS} #END fxlines`);
        const received = namesOf(reply.objects.find(({ url }) => url === urlNamed('lines')));
        checkEqual(received.join(' '), names.join(' '), 'another order', printable);
      }
    }),
  should('fixture/missing', 'BRK-4.6', 'project choice')
    .title('an attribute that an object lacks is left out, without an error')
    .does(attributed, async (_, context) => {
      const ask = (names: string) => context.ask(`#USER ${names} ${PLAIN_FLAGS} #END fxamber or fxlines`);
      const known = await ask('#attribute title');
      const reply = await ask('#attribute zzyzx-plugh #attribute keywords #attribute title');
      checkNotRefused(reply, '#attribute zzyzx-plugh');
      for (const code of [101, 103]) {
        const texts = textsOf(reply, code);
        check(texts.length <= textsOf(known, code).length, 'a message about an absent attribute', {
          expected: `no ${code}`,
          received: printable(`${code} - ${texts.join(' | ')}`),
        });
      }
      checkFixtureUrls([...urlsOf(known)].filter(isFixtureUrl), urlsOf(reply), '#attribute zzyzx-plugh');
      for (const found of reply.objects.filter(({ url }) => isFixtureUrl(url))) {
        const has = found.url === urlNamed('lines') ? 'keywords title' : 'title';
        checkEqual(namesOf(found).join(' '), has, `other attributes: ${printable(found.url)}`, printable);
      }
    }),
  should('fixture/matched-lines', 'BRK-4.8 BRK-4.7 BRK-1.10', 'M1.4; G; project choice')
    .title('matched lines are those that match a term that is not negated, each once, unchanged')
    .does(loaded, async (context) => {
      await checkEach(LINES, async ([query, expected]) => {
        const reply = await withLines(context, `#index case insensitive #END ${query}`);
        for (const [name, lines] of Object.entries(expected)) {
          const found = reply.objects.find(({ url }) => url === urlNamed(name));
          const received = found === undefined ? [] : linesOf(found);
          const show = (text: string) => printable(Buffer.from(text, 'latin1'), 400);
          const what = `other lines of ${name} for ${printable(query)}`;
          checkEqual(
            received.join('\n'),
            lines.map((line) => `Matched line: ${line}`).join('\n'),
            what,
            show,
          );
        }
      });
    }),
  must('fixture/maxfiles', 'BRK-8.11', 'RC')
    .title('maxfiles is the number of objects, if more match')
    .does(loaded, async (context) => {
      for (const limit of [1, 2, 3, 4, 5, 0]) {
        const reply = await context.ask(`#USER ${PLAIN_FLAGS} #index maxfiles ${limit} #END fxamber`);
        const [refusal] = textsOf(reply, 111);
        if (refusal !== undefined) {
          throw new NotApplicable(`an older broker refuses the flag: ${printable(refusal)}`);
        }
        checkLimited(reply, limit === 0 ? 4 : Math.min(4, limit), `maxfiles ${limit}`);
      }
    }),
  must('fixture/maxresult', 'BRK-8.11', 'S; inferred: G')
    .title('maxresult is the number of matched lines of the whole reply; without lines it is that of objects')
    .does(loaded, async (context) => {
      for (const flags of LINE_FLAGS) {
        const all = await limited(context, flags, 'maxresult 0');
        const most = weightOf(all);
        for (const limit of [1, 2, 4, 5, 9, 12, 13]) {
          const reply = await limited(context, flags, `maxresult ${limit}`);
          checkOnce(
            reply.objects.map(({ url }) => url),
            `maxresult ${limit}`,
          );
          checkCount(weightOf(reply), Math.min(limit, most), `results with maxresult ${limit}`);
        }
      }
    }),
  should('fixture/maxlines', 'BRK-3.3 BRK-8.11', 'project choice')
    .title('maxlines is the number of matched lines of each object')
    .does(loaded, async (context) => {
      for (const limit of [1, 3, 4, 5, 0]) {
        const reply = await withLines(context, `#index maxlines ${limit} #END fxiris`);
        checkLimited(reply, 3, `maxlines ${limit}`);
        for (const found of reply.objects) {
          const most = limit === 0 ? 4 : Math.min(4, limit);
          checkCount(linesOf(found).length, most, `lines with maxlines ${limit}: ${printable(found.url)}`);
        }
      }
    }),
];

/** Compares the values of `127` of some objects with the fixture. */
function sameValues(selects: (object: FixtureObject) => boolean): Procedure<BrokerContext> {
  return attributed(({ copies }) => {
    for (const object of FIXTURE.filter(selects)) checkObject(object, copies, LASTING_NAMES);
  });
}

/** Checks the `124` of an object. @throws Mismatch */
function checkDescription({ url, attributes }: FixtureObject, found: FoundObject | undefined): void {
  const expected = attributes.find(([name]) => name === 'Description')?.[1];
  const values = found?.items.filter(({ code }) => code === 124) ?? [];
  checkCount(values.length, expected === undefined ? 0 : 1, `descriptions of ${printable(url)}`);
  const [value] = values;
  if (expected === undefined) return;
  checkBytes(expected, value?.value ?? Buffer.alloc(0), `description of ${printable(url)}`);
}

/** Checks how many objects a reply has, and that none comes twice. @throws Mismatch */
function checkLimited(reply: Reply, objects: number, what: string): void {
  checkOnce(
    reply.objects.map(({ url }) => url),
    what,
  );
  checkCount(reply.objects.length, objects, `objects with ${what}`);
}

async function limited(context: BrokerContext, flags: string, limit: string): Promise<Reply> {
  const message = `#USER ${flags} #index case insensitive #index ${limit} #END fxiris`;
  const reply = await context.ask(message);
  checkNotRefused(reply, message);
  return reply;
}

/** What `maxresult` counts: an object without matched lines counts as one. */
function weightOf({ objects }: Reply): number {
  return objects.reduce((sum, found) => sum + Math.max(1, linesOf(found).length), 0);
}

function linesOf({ items }: FoundObject): string[] {
  return textsOf({ items }, 122);
}

/** Names of the `127` items of an object, as sent. */
function namesOf(found: FoundObject | undefined): string[] {
  return textsOf(found ?? { items: [] }, 127).map((text) => text.replace(/ \d+$/, ''));
}

/** Sends a user message and returns the reply with matched lines. @throws NotApplicable if none are sent */
async function withLines(context: BrokerContext, message: string): Promise<Reply> {
  for (const flags of LINE_FLAGS) {
    const reply = await context.ask(`#USER ${flags} ${message}`);
    checkNotRefused(reply, message, 'skip');
    if (textsOf(reply, 122).length > 0) return reply;
  }
  throw new NotApplicable('the engine sends no matched lines');
}
