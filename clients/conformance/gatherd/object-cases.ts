// Cases about SEND-OBJECT and INFO (GATHERD sections 3.6, 3.8, 5 and 8).
import { check, NotApplicable } from '../case.js';
import { printable } from '../printable.js';
import type { Status, Wire } from '../wire.js';
import type { GatherdCase } from './context.js';
import { digestOf, type Sample } from './survey.js';
import { type LoneObject, readObject } from './transfer.js';
import { checkLineForm, TRANSFER_MS } from './update-cases.js';

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
  {
    id: 'object/known',
    title: 'SEND-OBJECT of a URL is answered 300, the object, 399',
    rules: ['GATHERD-3.2', 'GATHERD-5.1'],
    source: 'inferred',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { samples } = await context.surveyWith(1);
      const wire = await context.session();
      for (const sample of readable(samples)) {
        const { object } = await receiveObject(wire, sample);
        const url = Buffer.from(object.urlBytes).toString('latin1');
        check(url === sample.url, 'another object', {
          expected: printable(sample.url),
          received: printable(url),
        });
      }
    },
  },
  {
    id: 'object/line-form',
    title: 'the lines before and after the object have the form of other status lines and end in LF only',
    rules: ['GATHERD-1.5', 'GATHERD-1.6'],
    source: 'beckett; roads; broker NOTES',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const [sample] = readable((await context.surveyWith(1)).samples);
      if (sample === undefined) return;
      const { lines } = await receiveObject(await context.session(), sample);
      for (const { line } of lines) checkLineForm(line);
    },
  },
  {
    id: 'object/bare',
    title: 'the object comes without wrappers, in the layout of SOIF',
    rules: ['GATHERD-5.2', 'SOIF-2.2'],
    source: 'inferred; template.c',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { samples } = await context.surveyWith(1);
      const wire = await context.session();
      for (const sample of readable(samples)) {
        const { malformed } = await receiveObject(wire, sample);
        check(malformed === undefined, 'more than the object, or another layout', {
          expected: 'one object as SOIF-2.2 writes it',
          received: malformed ?? '',
        });
      }
    },
  },
  {
    id: 'object/same-bytes',
    title: 'the object is the one that the update has, byte for byte',
    rules: ['GATHERD-5.1', 'GATHERD-4.6'],
    source: 'inferred; manual 1.2',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { samples } = await context.surveyWith(1);
      const wire = await context.session();
      for (const sample of readable(samples)) await checkSameBytes(wire, sample);
    },
  },
  {
    id: 'object/percent',
    title: 'percent signs in a URL are accepted unchanged',
    rules: ['GATHERD-5.1'],
    source: 'inferred',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { percent } = await context.survey();
      if (percent === undefined) throw new NotApplicable('no URL of the database has a percent sign');
      await checkSameBytes(await context.session(), percent);
    },
  },
  {
    id: 'object/unknown',
    title: 'an unknown object is answered 399 without 300, and the session continues',
    rules: ['GATHERD-3.8'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      const wire = await context.session();
      await wire.send(`SEND-OBJECT ${NO_SUCH_OBJECT}\n`);
      await wire.expect(399, 'SEND-OBJECT of an unknown object');
      await wire.send('HELLO collector.example.org\n');
      await wire.expect(100, 'HELLO after it');
    },
  },
  {
    id: 'object/no-argument',
    title: 'SEND-OBJECT without an argument is answered 900',
    rules: ['GATHERD-3.9'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      const wire = await context.session();
      await wire.send('SEND-OBJECT\n');
      await wire.expect(900, 'SEND-OBJECT without an argument');
    },
  },
  {
    id: 'info/object',
    title: 'INFO is answered with an object that a SOIF parser reads',
    rules: ['GATHERD-2.2', 'GATHERD-8.2'],
    source: 'beckett; manual 1.4',
    level: 'MUST',
    async run(context) {
      const { malformed } = await receiveInfo(await context.session());
      check(malformed === undefined, 'not one object in the layout of SOIF', {
        expected: 'one object as SOIF-2.2 writes it',
        received: malformed ?? '',
      });
    },
  },
  {
    id: 'info/end',
    title: 'INFO has a 600 line, before or after the object',
    rules: ['GATHERD-3.1', 'GATHERD-3.6'],
    source: 'beckett',
    level: 'MUST',
    async run(context) {
      const wire = await context.session();
      const { before } = await receiveInfo(wire);
      if (before !== 600) await wire.expect(600, 'INFO, after its object');
    },
  },
  {
    id: 'info/end-form',
    title: 'the 600 line has the form of other status lines and ends in LF only',
    rules: ['GATHERD-1.5', 'GATHERD-1.6'],
    source: 'beckett; roads',
    level: 'MUST',
    async run(context) {
      const wire = await context.session();
      const { before } = await receiveInfo(wire);
      // A line before the object was read already.
      if (before !== undefined) return;
      checkLineForm(await wire.line());
    },
  },
  {
    id: 'info/next-command',
    title:
      'the answer to the next command follows that of INFO, which has at most one 600 line and one 699 line',
    rules: ['GATHERD-1.8', 'GATHERD-3.1', 'GATHERD-3.6'],
    source: 'inferred: gatherd NOTES; beckett',
    level: 'MUST',
    async run(context) {
      const wire = await context.session();
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
    },
  },
  {
    id: 'info/order',
    title: 'the object comes first, then 600',
    rules: ['GATHERD-3.6'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      const { before } = await receiveInfo(await context.session());
      check(before === undefined, 'a status line before the object', {
        expected: 'the object',
        received: `${before} - ...`,
      });
    },
  },
  {
    id: 'info/description',
    title: 'INFO is a GATHERER object with the attributes of a Gatherer description',
    rules: ['GATHERD-8.3'],
    source: 'gatherd NOTES',
    level: 'SHOULD',
    async run(context) {
      const { object } = await receiveInfo(await context.session());
      check(object.type.toUpperCase() === 'GATHERER', 'another template type', {
        expected: 'GATHERER',
        received: printable(object.type),
      });
      checkHasAttributes(object, DESCRIPTION);
    },
  },
  {
    id: 'info/contents',
    title: 'INFO reports the number of objects, their times and their attributes',
    rules: ['GATHERD-8.1', 'GATHERD-8.4'],
    source: 'seed manual; names: project choice',
    level: 'SHOULD',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { transfer, oldest, newest } = await context.survey();
      const { object } = await receiveInfo(await context.session());
      checkHasAttributes(object, transfer.objects === 0 ? ['Number-Of-Objects'] : CONTENTS);
      for (const [name, value] of [
        ['Number-Of-Objects', transfer.objects],
        ['Oldest-Update-Time', oldest],
        ['Newest-Update-Time', newest],
      ] as const) {
        check(value === undefined || object.number(name) === value, `${name} is not what the update shows`, {
          expected: String(value),
          received: printable(object.text(name) ?? 'none'),
        });
      }
    },
  },
];

/** Reads the object of INFO, and the number of a status line before it. */
export async function receiveInfo(wire: Wire): Promise<LoneObject & { readonly before: number | undefined }> {
  await wire.send('INFO\n');
  const first = await wire.peek();
  if (first === undefined || first < 0x30 || first > 0x39)
    return { ...(await readObject(wire)), before: undefined };
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

async function checkSameBytes(wire: Wire, sample: Sample): Promise<void> {
  const { bytes } = await receiveObject(wire, sample);
  const digest = digestOf(bytes);
  check(digest === sample.digest, 'not the bytes that the update has', {
    expected: `SHA-256 ${sample.digest}`,
    received: `SHA-256 ${digest}: ${printable(bytes)}`,
  });
}

/** Returns the samples, which are objects in the layout of SOIF-2.2. @throws NotApplicable if no object has it */
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
