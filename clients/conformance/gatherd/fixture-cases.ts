// Cases for a gatherd that has loaded the fixture, so that every byte of its objects is known.
import { FIXTURE, type FixtureObject } from '../../../protocols/fixture/index.js';
import { check, checkNone, must, type Procedure, should } from '../case.js';
import {
  checkFixtureUrls,
  checkObject,
  checkValues,
  FixtureCollector,
  type FixtureCopies,
  fixtureObjects,
  isChangedUrl,
  isFixtureUrl,
  requireFixture,
  VALUE_CASES,
} from '../fixture.js';
import { printable } from '../printable.js';
import { type GatherdCase, type GatherdContext, surveyed } from './context.js';
import type { StreamObject } from './stream-check.js';
import { readObject, receiveCompressed, receiveUpdate } from './transfer.js';

const BYTES = 'inferred; template.c; project choice: nothing is changed on the way';

/** Time stamps around 2^31 and 2^32, which older programs keep in fewer bits. */
const TIMES = [
  0x7fff_ffff, 0x8000_0000, 0x8000_0001, 3_000_000_000, 3_000_000_001, 0xffff_ffff, 0x1_0000_0000,
  0x1_0000_0001, 0x1_0000_0002, 0x2_0000_0000,
];

/** URLs that no object has, and that differ little from one of the fixture. */
export const UNKNOWN_URLS: readonly string[] = [
  'http://fixture.example/p/a/',
  'http://fixture.example/p/a/b/c',
  'http://fixture.example/p/a/B',
  'http://fixture.example/',
  'http://FIXTURE.example/p',
  'HTTP://fixture.example/p',
  'http://fixture.example/P',
  'http://fixture.example/p?',
  'http://fixture.example/p?a=',
  'http://fixture.example/p%2F',
  'http://fixture.example/%7Ep',
  'http://fixture.example:80/p/a',
  'http://fixture.example/values/near-',
  'http://fixture.example/values/UTF-8',
  'fixture.example/p',
  'p',
];

/** The fixture, loaded by the server under test. All cases are skipped without it. */
export const fixtureCases: readonly GatherdCase[] = [
  must('fixture/objects', 'GATHERD-4.1 GATHERD-4.6', BYTES)
    .title('each object of the fixture comes once')
    .does(loaded, (objects) => {
      checkFixtureUrls(
        FIXTURE.map(({ url }) => url),
        objects.keys(),
        'SEND-UPDATE 0',
      );
      const [twice] = [...objects].filter(([url, found]) => isFixtureUrl(url) && found.length > 1);
      checkNone(twice, 'an object comes twice', 'each URL once', ([url]) => printable(url));
    }),
  must('fixture/urls', 'GATHERD-4.6 SOIF-2.9', BYTES)
    .title('URLs are sent unchanged: no object has a URL that only resembles one of the fixture')
    .does(loaded, (objects) => {
      const changed = [...objects.keys()].find(isChangedUrl);
      checkNone(changed, 'a URL that the fixture does not have', 'the URLs of the fixture', printable);
    }),
  ...VALUE_CASES.map(({ name, url, purpose }) =>
    must(`fixture/value-${name}`, 'GATHERD-4.6 SOIF-2.3 SOIF-2.4', BYTES)
      .title(`values are sent unchanged: ${purpose}`)
      .does(sameValues, (object) => object.url === url),
  ),
  must('fixture/value-near', 'GATHERD-4.6 SOIF-2.3', BYTES)
    .title('values that differ in little stay different')
    .does(sameValues, ({ url }) => url.includes('/values/near-')),
  must('fixture/values', 'GATHERD-4.6 SOIF-2.3 SOIF-6.5', BYTES)
    .title('the values of all other objects are sent unchanged')
    .does(sameValues, ({ url }) => !url.includes('/values/')),
  must('fixture/compressed', 'GATHERD-6.3 GATHERD-4.6', BYTES)
    .title('a compressed update has the same objects and values')
    .does(loaded, async (_, context) => {
      const wire = await context.compressedSession();
      const objects = await collect((onObject) => receiveCompressed(wire, 0, onObject));
      for (const object of FIXTURE) checkObject(object, objects);
    }),
  must('fixture/send-object', 'GATHERD-5.1 GATHERD-4.6', BYTES)
    .title('SEND-OBJECT sends each object of the fixture with its values, and no other in its place')
    .does(loaded, async (_, context) => {
      const wire = await context.session(false);
      for (const object of FIXTURE) {
        await wire.send(Buffer.from(`SEND-OBJECT ${object.url}\n`, 'latin1'));
        await wire.expect(300, `SEND-OBJECT ${printable(object.url)}`);
        const { object: found } = await readObject(wire);
        checkFixtureUrls([object.url], [Buffer.from(found.urlBytes).toString('latin1')], object.url);
        checkValues(object, [...found]);
        while ((await wire.peek()) === 0x7d) await wire.line();
        await wire.expect(399, 'the object');
      }
    }),
  must('fixture/unknown', 'GATHERD-5.1', 'inferred: the identifier of an object is its URL, exact bytes')
    .title('SEND-OBJECT sends nothing for a URL that only resembles one of the fixture')
    .does(loaded, async (_, context) => {
      for (const url of UNKNOWN_URLS) {
        const wire = await context.session();
        await wire.send(`SEND-OBJECT ${url}\n`);
        const { code, line } = await wire.status();
        check(code !== 300, `an object is sent for a URL that no object has: ${url}`, {
          expected: '399 - ...',
          received: printable(line),
        });
      }
    }),
  must('fixture/since', 'GATHERD-4.2 GATHERD-4.3', 'gatherd NOTES; inferred; the comparison project choice')
    .title('time stamps around 2^31 and 2^32 select the objects of that time and later, and no others')
    .does(loaded, async (_, context) => {
      for (const since of TIMES) {
        const wire = await context.session();
        const objects = await collect((onObject) => receiveUpdate(wire, since, onObject));
        const expected = FIXTURE.filter(({ updateTime }) => updateTime >= since).map(({ url }) => url);
        checkFixtureUrls(expected, objects.keys(), `SEND-UPDATE ${since}`);
      }
    }),
  should('fixture/order', 'GATHERD-4.6', 'project choice')
    .title('times above 2^31 are in order as numbers')
    .does(loaded, (objects) => {
      const times = fixtureObjects('times/').map(({ url }) => url);
      const received = [...objects.keys()].filter((url) => times.includes(url));
      check(received.join() === times.join(), 'another order', {
        expected: times.join(' '),
        received: received.join(' '),
      });
    }),
];

/** Looks at the objects of the fixture; skips the case for a server without them. */
function loaded(
  verify: (copies: FixtureCopies, context: GatherdContext) => void | Promise<void>,
): Procedure<GatherdContext> {
  return surveyed(async ({ fixture }, context) => {
    requireFixture(fixture.keys());
    await verify(fixture, context);
  });
}

/** Requests an update and returns its objects of the fixture. */
async function collect(request: (onObject: (item: StreamObject) => void) => Promise<unknown>) {
  const collector = new FixtureCollector();
  await request((item) => collector.add(item));
  return collector.copies;
}

/** Compares the values of some objects with the fixture. */
function sameValues(selects: (object: FixtureObject) => boolean): Procedure<GatherdContext> {
  return loaded((objects) => {
    for (const object of FIXTURE.filter(selects)) checkObject(object, objects);
  });
}
