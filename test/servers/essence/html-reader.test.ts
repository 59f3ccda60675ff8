// The HTML reader reports the same events as htmlparser2, except that text between two tags may be split
// differently.
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { Parser } from 'htmlparser2';
import t from 'tap';
import { readHtml } from '../../../servers/essence/html/reader.js';
import { type PlannedTag, TagTable } from '../../../servers/essence/html/tags.js';

const ALL_ATTRIBUTES: PlannedTag = { attributeNames: { has: () => true } };
/** Elements whose attributes are compared. */
const NAMES = (
  'html head title meta base body p div b i a td th tr table li ul h1 br img script style textarea svg desc select option dd ' +
  'x-own scripts tit s'
).split(' ');
const TABLE = new TagTable(new Map(NAMES.map((name) => [name, ALL_ATTRIBUTES])));

/** Formats the event of an open element. */
function openEvent(name: string, attributes: object): string {
  return `open ${name} ${NAMES.includes(name) ? JSON.stringify(attributes) : '{}'}`;
}

/** Collects events; successive texts become one event. */
class Events {
  readonly list: string[] = [];
  #text = '';

  text(text: string): void {
    this.#text += text;
  }

  add(event: string): void {
    if (this.#text !== '') this.list.push(`text ${JSON.stringify(this.#text)}`);
    this.#text = '';
    this.list.push(event);
  }
}

/** Returns the events of the reader under test. */
function readerEvents(html: string): string[] {
  const events = new Events();
  readHtml(html, TABLE, {
    open: ({ name }, attributes) => events.add(openEvent(name, attributes)),
    text: (source, start, end) => events.text(source.slice(start, end)),
    close: ({ name }) => events.add(`close ${name}`),
  });
  events.add('end');
  return events.list;
}

/** Returns the events of htmlparser2. */
function parserEvents(html: string): string[] {
  const events = new Events();
  const parser = new Parser({
    onopentag: (name, attributes) => events.add(openEvent(name, attributes)),
    ontext: (text) => events.text(text),
    onclosetag: (name) => events.add(`close ${name}`),
  });
  parser.end(html);
  events.add('end');
  return events.list;
}

/**
 * Completes open constructs at the end of a generated page: the reader drops a truncated tag, htmlparser2 does
 * not always.
 */
const ENDING = `"'>"'>-->]]></script></style></title></textarea></xmp>.`;

const name = fc.constantFrom(...NAMES, 'P', 'Div', 'TITLE', 'Script');
const blank = fc.constantFrom('', ' ', '\n', '\t ', '\f', '\r\n');
const word = fc.constantFrom(...'a href HREF x = =b " \' / &amp; b&lt=c &copy &notit; #'.split(' '));
const reference = fc.constantFrom(
  ...(
    '&amp; &amp &ampx &lt; &nbsp; &#65; &#x41 &#128; &#0; &#xD800; &#99999999; &#; &#x; & && &notit; ' +
    '&notin; &nGtv; &Rightarrow; &CounterClockwiseContourIntegral; &copy=1 &none; &a<'
  ).split(' '),
);
const value = fc.oneof(
  fc.array(fc.oneof(word, reference, blank), { maxLength: 4 }).map((parts) => parts.join('')),
  fc.constantFrom('x', 'a/b?c=d&amp;e=f#g', ''),
);
const attribute = fc.oneof(
  fc
    .tuple(blank, word, blank, fc.constantFrom('=', '', '=='), blank, fc.constantFrom('"', "'", ''), value)
    .map(
      ([before, key, gap, equals, after, quote, content]) =>
        `${before}${key}${gap}${equals}${after}${quote}${content.replaceAll(quote === '' ? '>' : quote, '')}${quote}`,
    ),
  word,
);
const markup = fc.oneof(
  fc
    .tuple(name, fc.array(attribute, { maxLength: 3 }), blank, fc.constantFrom('>', '/>', '/ >', ''))
    .map(([tag, attributes, gap, end]) => `<${tag} ${attributes.join(' ')}${gap}${end}`),
  fc
    .tuple(blank, name, blank, fc.constantFrom('>', ' x>', '/>', ''))
    .map(([a, tag, b, end]) => `</${a}${tag}${b}${end}`),
  name.map((tag) => `<${tag}>`),
  fc.constantFrom(
    ...(
      '<!-- x -->|<!-->|<!--->|<!--|-->|--!>|<!DOCTYPE html>|<!>|<!->|<![CDATA[ <b> ]]>|<![CD|<?pi?>|' +
      '</>|</ >|</3>|<|<<|< b|<3|>|]]>|</|<!'
    ).split('|'),
  ),
);
const text = fc.oneof(
  reference,
  blank,
  fc.constantFrom('word', 'two words', 'ä€😀', '"', "'", '='),
  fc.string({ unit: 'grapheme' }),
);
const page = fc.array(fc.oneof(markup, text), { maxLength: 14 }).map((parts) => `${parts.join('')}${ENDING}`);

/** Control characters that htmlparser2 mistakes for `<` and `/` when it searches for the end of a SCRIPT. */
const MISTAKEN = /[\x0f\x1c]/;

t.test('G-60: the reader reports the same events as htmlparser2 for any page', async (t) => {
  const result = fc.check(
    fc.property(page, (html) => {
      fc.pre(!MISTAKEN.test(html));
      assert.deepStrictEqual(readerEvents(html), parserEvents(html));
    }),
    { numRuns: 4000 },
  );
  t.notOk(result.failed, fc.defaultReportMessage(result) ?? '');
});

t.test('E-90: omitted, stray and unclosed tags are read as authors write them', async (t) => {
  t.equal(
    readerEvents('<P>one<p>two</div></b><BR/><a HREF=x?a&amp;b title="1&lt;2" href=y>z').join('|'),
    'open p {}|text "one"|close p|open p {}|text "two"|open br {}|' +
      'close br|open a {"href":"x?a&b","title":"1<2"}|text "z"|close a|close p|end',
  );
  t.equal(
    readerEvents(
      '<title>a &amp; <b></title><script>"</scripts>&amp;"</SCRIPT x><svg><desc/>x</svg></p>',
    ).join('|'),
    'open title {}|text "a & <b>"|close title|open script {}|text "\\"</scripts>&amp;\\""|close script|open svg {}|' +
      'open desc {}|text "x"|close desc|close svg|open p {}|close p|end',
  );
});

t.test('E-90: at the end of a truncated page a complete tag is read, a truncated one dropped', async (t) => {
  for (const truncated of '<b|<b |<b x|<b x=|<b x="y|<b x=y|<b /|</i|<!-- x|<![CDATA[x|<scr'.split('|')) {
    t.strictSame(readerEvents(`<i>a${truncated}`), ['open i {}', 'text "a"', 'close i', 'end'], truncated);
  }
  t.strictSame(readerEvents('<i>a</b x'), ['open i {}', 'text "a"', 'close i', 'end']);
  t.strictSame(readerEvents('a<'), ['text "a<"', 'end']);
  t.strictSame(readerEvents('a</'), ['text "a</"', 'end']);
  t.strictSame(readerEvents('a<!b'), ['text "ab"', 'end'], 'an unterminated declaration is text');
  t.strictSame(readerEvents('<script>a</scr'), ['open script {}', 'text "a</scr"', 'close script', 'end']);
});

t.test('E-90: reading stops at elements that are nested too deeply', async (t) => {
  let opened = 0;
  let closed = 0;
  const complete = readHtml(
    '<b>'.repeat(50),
    TABLE,
    { open: () => opened++, text: () => undefined, close: () => closed++ },
    20,
  );
  t.equal(complete, false);
  t.same([opened, closed], [21, 21], 'every open element is closed');
  t.equal(
    readHtml(
      '<b>'.repeat(20),
      TABLE,
      { open: () => undefined, text: () => undefined, close: () => undefined },
      20,
    ),
    true,
  );
});
