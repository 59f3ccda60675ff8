// Cases about SEND-OBJECT and INFO (GATHERD sections 3.6, 3.8, 5 and 8).
import { check, checkEqual, checkNone, must, NotApplicable, should } from '../case.js';
import { printable } from '../printable.js';
import type { Status, Wire } from '../wire.js';
import { answers, type GatherdCase, inSession, surveyed, surveyedWith } from './context.js';
import { digestOf, type Sample } from './survey.js';
import { type LoneObject, readObject } from './transfer.js';
import { checkLineForm } from './update-cases.js';

/** GATHERD-8.3: attributes of a Gatherer's description, as printed in the notes. */
const DESCRIPTION = [
  'Gatherer-Host',
  'Gatherer-Name',
  'Gatherer-Port',
  'Gatherer-Version',
  'Last-Modification-Time',
  'Refresh-Rate',
  'Time-to-Live',
  'Update-Time',
];
/** GATHERD-8.1, 8.4: attributes about the database that `gather -info` shows. */
const CONTENTS = ['Number-Of-Objects', 'Oldest-Update-Time', 'Newest-Update-Time', 'Attributes'];
const NO_SUCH_OBJECT = 'nop:conformance-kit/no-such-object';

/** SEND-OBJECT and INFO: sections 3.6, 3.8, 5 and 8. */
export const objectCases: readonly GatherdCase[] = [
  must('object/known', 'GATHERD-3.2 GATHERD-5.1', 'inferred')
    .title('SEND-OBJECT of a URL is answered 300, the object, 399')
    .does(surveyedWith, 1, async ({ samples }, context) => {
      const wire = await context.session();
      for (const sample of readable(samples)) {
        const { object } = await receiveObject(wire, sample);
        const url = Buffer.from(object.urlBytes).toString('latin1');
        checkEqual(url, sample.url, 'another object', printable);
      }
    }),
  must('object/line-form', 'GATHERD-1.5 GATHERD-1.6', 'beckett; roads; broker NOTES')
    .title('the lines before and after the object have the form of other status lines and end in LF only')
    .does(surveyedWith, 1, async (survey, context) => {
      const [sample] = readable(survey.samples);
      if (sample === undefined) return;
      const { lines } = await receiveObject(await context.session(), sample);
      for (const { line } of lines) checkLineForm(line);
    }),
  must('object/bare', 'GATHERD-5.2 SOIF-2.2', 'inferred; template.c')
    .title('the object comes without wrappers, in the layout of SOIF')
    .does(surveyedWith, 1, async ({ samples }, context) => {
      const wire = await context.session();
      for (const sample of readable(samples)) {
        const { malformed } = await receiveObject(wire, sample);
        checkNone(malformed, 'more than the object, or another layout', 'one object as SOIF-2.2 writes it');
      }
    }),
  must('object/same-bytes', 'GATHERD-5.1 GATHERD-4.6', 'inferred; manual 1.2')
    .title('the object is the one that the update has, byte for byte')
    .does(surveyedWith, 1, async ({ samples }, context) => {
      const wire = await context.session();
      for (const sample of readable(samples)) await checkSameBytes(wire, sample);
    }),
  must('object/percent', 'GATHERD-5.1', 'inferred')
    .title('percent signs in a URL are accepted unchanged')
    .does(surveyed, async ({ percent }, context) => {
      if (percent === undefined) throw new NotApplicable('no URL of the database has a percent sign');
      await checkSameBytes(await context.session(), percent);
    }),
  must('object/exact-url', 'GATHERD-5.1', 'inferred: the identifier of an object is its URL, exact bytes')
    .title('SEND-OBJECT of a URL that resembles another sends no object of another URL')
    .does(surveyedWith, 1, async ({ samples }, context) => {
      for (const { url } of readable(samples)) {
        for (const asked of resembling(url)) await checkNotAnother(await context.session(), asked);
      }
    }),
  should('object/unknown', 'GATHERD-3.8', 'project choice')
    .title('an unknown object is answered 399 without 300, and the session continues')
    .does(
      answers,
      [`SEND-OBJECT ${NO_SUCH_OBJECT}`, 399, 'SEND-OBJECT of an unknown object'],
      ['HELLO collector.example.org', 100, 'HELLO after it'],
    ),
  must('object/no-argument', 'GATHERD-3.9', 'project choice')
    .title('SEND-OBJECT without an argument is answered 900')
    .does(answers, ['SEND-OBJECT', 900, 'SEND-OBJECT without an argument']),
  must('info/object', 'GATHERD-2.2 GATHERD-8.2', 'beckett; manual 1.4')
    .title('INFO is answered with an object that a SOIF parser reads')
    .run(async (context) => {
      const { malformed } = await receiveInfo(await context.session());
      checkNone(malformed, 'not one object in the layout of SOIF', 'one object as SOIF-2.2 writes it');
    }),
  must('info/end', 'GATHERD-3.1 GATHERD-3.6', 'beckett')
    .title('INFO has a 600 line, before or after the object')
    .does(inSession, async (wire) => {
      const { before } = await receiveInfo(wire);
      if (before !== 600) await wire.expect(600, 'INFO, after its object');
    }),
  must('info/end-form', 'GATHERD-1.5 GATHERD-1.6', 'beckett; roads')
    .title('the 600 line has the form of other status lines and ends in LF only')
    .does(inSession, async (wire) => {
      const { before } = await receiveInfo(wire);
      // A line before the object was read already.
      if (before !== undefined) return;
      checkLineForm(await wire.line());
    }),
  must('info/next-command', 'GATHERD-1.8 GATHERD-3.1 GATHERD-3.6', 'inferred: gatherd NOTES; beckett')
    .title(
      'the answer to the next command follows that of INFO, which has at most one 600 line and one 699 line',
    )
    .does(inSession, async (wire) => {
      const { before } = await receiveInfo(wire);
      await wire.send('HELLO collector.example.org\n');
      const lines: number[] = before === undefined ? [] : [before];
      for (let { code } = await wire.status(); code !== 100; { code } = await wire.status()) {
        check((code === 600 || code === 699) && !lines.includes(code), 'a line too many after INFO', {
          expected: '100 - ..., the answer to HELLO',
          received: `${code} - ...`,
        });
        lines.push(code);
      }
    }),
  should('info/order', 'GATHERD-3.6', 'project choice')
    .title('the object comes first, then 600')
    .run(async (context) => {
      const { before } = await receiveInfo(await context.session());
      checkNone(before, 'a status line before the object', 'the object', (code) => `${code} - ...`);
    }),
  should('info/description', 'GATHERD-8.3', 'gatherd NOTES')
    .title('INFO is a GATHERER object with the attributes of a Gatherer description')
    .run(async (context) => {
      const { object } = await receiveInfo(await context.session());
      check(object.type.toUpperCase() === 'GATHERER', 'another template type', {
        expected: 'GATHERER',
        received: printable(object.type),
      });
      checkHasAttributes(object, DESCRIPTION);
    }),
  should('info/contents', 'GATHERD-8.1 GATHERD-8.4', 'seed manual; names: project choice')
    .title('INFO reports the number of objects, their times and their attributes')
    .does(surveyed, async ({ transfer }, context) => {
      const { object } = await receiveInfo(await context.session());
      checkHasAttributes(object, transfer.objects === 0 ? ['Number-Of-Objects'] : CONTENTS);
    }),
  must('info/true', 'GATHERD-8.1 GATHERD-8.5', 'seed manual')
    .title('the number of objects and the times that INFO reports are those of the update')
    .does(surveyed, async ({ transfer, oldest, newest }, context) => {
      const { object } = await receiveInfo(await context.session());
      const facts = [
        ['Number-Of-Objects', transfer.objects],
        ['Oldest-Update-Time', oldest],
        ['Newest-Update-Time', newest],
      ] as const;
      const reported = facts.filter(([name, value]) => value !== undefined && object.has(name));
      if (reported.length === 0) throw new NotApplicable('INFO has none of these attributes');
      for (const [name, value] of reported) {
        check(object.number(name) === value, `${name} is not what the update shows`, {
          expected: String(value),
          received: printable(object.text(name) ?? 'none'),
        });
      }
    }),
  must('info/attributes', 'GATHERD-8.5 GATHERD-8.1', 'seed manual')
    .title('the attributes that INFO lists are those of the objects: none is missing, none is invented')
    .does(surveyedWith, 1, async ({ names }, context) => {
      const { object } = await receiveInfo(await context.session());
      const text = object.text('Attributes');
      if (text === undefined) throw new NotApplicable('INFO has no list of attributes');
      if (names === undefined) throw new NotApplicable('the objects have too many attributes to compare');
      const listed = text
        .toLowerCase()
        .split(/\s+/)
        .filter((name) => name !== '');
      const missing = [...names].filter((name) => !listed.includes(name));
      const invented = listed.filter((name, at) => !names.has(name) || listed.indexOf(name) !== at);
      check(missing.length + invented.length === 0, 'another list than the update shows', {
        expected: missing.length > 0 ? `also ${printable(missing.join(', '))}` : `${names.size} attributes`,
        received: printable(invented.length > 0 ? `also ${invented.join(', ')}` : listed.join(', ')),
      });
    }),
];

/** Reads the object of INFO, and the number of a status line before it. */
export async function receiveInfo(wire: Wire): Promise<LoneObject & { readonly before: number | undefined }> {
  await wire.send('INFO\n');
  if (!(await wire.startsWithDigit())) return { ...(await readObject(wire)), before: undefined };
  const { code } = await wire.expect(600, 'INFO');
  return { ...(await readObject(wire)), before: code };
}

/** Fetches an object that the server has, with the lines before and after it. @throws Mismatch */
export async function receiveObject(
  wire: Wire,
  { url }: Sample,
): Promise<LoneObject & { readonly lines: readonly Status[] }> {
  await wire.send(`SEND-OBJECT ${url}\n`);
  const start = await wire.expect(300, `SEND-OBJECT ${url}`);
  const object = await readObject(wire);
  // The closing brace of a wrapper may follow; object/bare checks that.
  while ((await wire.peek()) === 0x7d) await wire.line();
  const end = await wire.expect(399, `SEND-OBJECT ${url}, after the object`);
  return { ...object, lines: [start, end] };
}

/** Returns URLs that differ from this one by a part at an end, or by the case of letters. */
function resembling(url: string): readonly string[] {
  const turned = (text: string) =>
    text.replace(/[a-z]/gi, (one) => (one < 'a' ? one.toLowerCase() : one.toUpperCase()));
  const path = url.replace(/^[^:]*:\/\/[^/]*/, '');
  const host = url.slice(0, url.length - path.length);
  const others = [url.slice(0, -1), `${url}x`, host + turned(path), turned(host) + path, url.slice(1)];
  return others.filter((other) => other !== url && /^\S+$/.test(other));
}

/** Checks that SEND-OBJECT sends the object of this URL, if it sends one. @throws Mismatch */
async function checkNotAnother(wire: Wire, url: string): Promise<void> {
  await wire.send(`SEND-OBJECT ${url}\n`);
  const { code } = await wire.status();
  if (code !== 300) return;
  const { object } = await readObject(wire);
  const received = Buffer.from(object.urlBytes).toString('latin1');
  checkEqual(received, url, 'the object of another URL', printable);
}

async function checkSameBytes(wire: Wire, sample: Sample): Promise<void> {
  const { bytes } = await receiveObject(wire, sample);
  const digest = digestOf(bytes);
  check(digest === sample.digest, 'not the bytes that the update has', {
    expected: `SHA-256 ${sample.digest}`,
    received: `SHA-256 ${digest}: ${printable(bytes)}`,
  });
}

/**
 * Returns the samples, which are objects in the layout of SOIF-2.2. @throws NotApplicable if no object has it
 */
function readable(samples: readonly Sample[]): readonly Sample[] {
  if (samples.length > 0) return samples;
  throw new NotApplicable('no object of the database is well-formed');
}

function checkHasAttributes(object: LoneObject['object'], names: readonly string[]): void {
  const lacking = names.filter((name) => !object.has(name));
  check(lacking.length === 0, 'attributes are missing', {
    expected: names.join(', '),
    received: `without ${lacking.join(', ')}`,
  });
}
