// Properties: random bytes of every type go through its summarizer, and through the pipeline.
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { SoifDecoder } from '../../../protocols/soif/index.js';
import { typesWith } from '../../../servers/essence/recognition/types.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';
import { assertProperty } from '../../helpers/property.js';
import { summaryOf } from './fixtures/summary-of.js';
import { attributesOf, contextOf, inputOf } from './helpers.js';

const SUMMARIZED = [...typesWith(({ summarize }) => summarize !== undefined)];

t.test('any bytes of any type are summarized or rejected, and every object is strict SOIF', async (t) => {
  const context = contextOf({ keywords: true, description: true, maxObjectBytes: 3000 });
  const names = 'x.html x.txt README faq x.c x.h x.pl x.sh x.awk x.py x.el Makefile x.1 x x/'.split(' ');
  t.ok(SUMMARIZED.length > 15);
  const fragment = fc.constantFrom(
    ...(
      '<|>|<a href="|<meta name=| content=|<title>|</|<ul>|&#|&amp|"|\'|/*|*/|//|#|{|}|(|)|;|=|\\|' +
      '.TH a 1\n|.SH |=head1|\n=cut\n|\n\n|. |word |\0|ä|😀|@FILE { x\n|a{3}:\t|robots|<base href=//|' +
      'http://[|%|\u{d800}'
    ).split('|'),
  );
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.array(fragment, { maxLength: 80 }).map((fragments) => new TextEncoder().encode(fragments.join(''))),
  );
  const mime = fc.option(fc.constantFrom('text/html', 'text/plain', 'x', 'image/png'), { nil: undefined });
  await assertProperty(
    fc.asyncProperty(fc.constantFrom(...names), body, mime, async (name, bytes, contentType) => {
      const input = inputOf(`http://a.test/${name}`, bytes, { contentType });
      const output = await summarizeDocument(input, context);
      if (output.soif === undefined) return output.rejected;
      const decoder = new SoifDecoder({ mode: 'strict' });
      const items = [...decoder.push(output.soif), ...decoder.end()];
      return (
        items.length === 1 &&
        items[0]!.kind === 'object' &&
        Object.keys(attributesOf(output.soif)).length >= 10
      );
    }),
    { numRuns: 1500 },
  );
});

t.test('6.2: no summarizer throws for any bytes', async (t) => {
  const fragment = fc.constantFrom(
    ...(
      '%!PS\n|(|)|{|}|[|]|<<|>>| show | def | 1 | exch | begin | forall |\\|\\begin{|\\title{|$|' +
      '{\\rtf1 |\\\'e|\\u|\\bin9|.TS\n|.de x\n|.if n |\\*(|@article{a,|title={|"|#|%A x\n|PK\x03\x04|' +
      '%PDF-1.4\n| 0 obj|endobj|stream\n|\xf7\x02|\x7fELF\x02\x01|!<arch>\n|RIFF|WAVE|ID3\x03|OggS|' +
      'fLaC|\x89PNG\r\n\x1a\n|GIF89a|\xff\xd8\xff\xe1|II*\0|\xffWPC|\xd0\xcf\x11\xe0|head 1.1;\n|' +
      'From x\n\nFrom |Content-Type: |multipart/mixed; boundary=a\n\n--a\n|\0|\n|<Para |(:source |' +
      'STARTFONT |OTTO|\xff\xff\xff\xff'
    ).split('|'),
  );
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc
      .array(fragment, { maxLength: 60 })
      .map((parts) => new Uint8Array(Buffer.from(parts.join(''), 'latin1'))),
  );
  const types = SUMMARIZED;
  await assertProperty(
    fc.asyncProperty(fc.constantFrom(...types), body, async (type, bytes) => {
      const { summary } = await summaryOf(type, bytes);
      return summary.attributes.every(([name]) => /^[A-Za-z0-9-]+$/.test(name));
    }),
    { numRuns: 500 },
  );
  t.ok(types.length >= 40);
  t.ok((await summaryOf('Object', gzipSync('x'))).all.Keywords === undefined);
});
