// SGML and XML documents: extraction tables, entities, hostile input, and OpenSP if it is installed.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { findTypePrograms } from '../../../servers/essence/external/find.js';
import { runProgram } from '../../../servers/essence/external/run.js';
import { compileEssence, readEssenceSources } from '../../../servers/essence/index.js';
import { readProlog } from '../../../servers/essence/sgml/prolog.js';
import { readMarkupEvents } from '../../../servers/essence/sgml/reader.js';
import { summarizeSgml } from '../../../servers/essence/sgml/summarize.js';
import { compileSgmlTypes, readSgmlSources } from '../../../servers/essence/sgml/types.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { IDENTITY, summarize as summarizeDocument } from './helpers.js';

const SETTINGS = {
  rawReferences: false,
  maxAttributeLength: 65_536,
  maxAttributes: 4096,
  maxObjectBytes: 1_000_000,
  maxHtmlDepth: 1000,
};

const OPEN_SP = { directories: [], path: '/usr/bin:/bin' };

function document(text: string, settings: Partial<typeof SETTINGS> = {}) {
  const warnings: string[] = [];
  return {
    url: 'http://a.test/dir/doc.sgml',
    text,
    settings: { ...SETTINGS, ...settings },
    warnings,
    warn: (message: string) => void warnings.push(message),
  };
}

/** Returns the attributes that a table extracts from a document. */
async function extract(
  table: string,
  text: string,
  settings: Partial<typeof SETTINGS> = {},
): Promise<Record<string, string>> {
  const types = compileSgmlTypes({ types: { FOO: { file: 'FOO.sum.tbl', text: table } } });
  return Object.fromEntries((await summarizeSgml(document(text, settings), 'FOO', types)).attributes);
}

/** Writes files, and the directories of their names, to a temporary directory. */
async function directoryWith(t: Test, files: Readonly<Record<string, string>>): Promise<string> {
  const root = await temporaryDirectory(t);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  return root;
}

t.test('E-89 the four mappings apply to SGML and to XML', async (t) => {
  const table = '<T> one,two\n<P,KIND=x> special\n<P> plain\n<R:TO> refs\n<M:CONTENT> $NAME\n';
  const body =
    '<t>Hello</t><p kind="X">a</p><p kind=y>b</p><p>c</p><r to="#1"></r><m name="author" content="Joe"></m>';
  const expected = { one: 'Hello', two: 'Hello', special: 'a', plain: 'b\nc', refs: '#1', author: 'Joe' };
  t.same(await extract(table, `<!DOCTYPE FOO><FOO>${body}</FOO>`), expected);
  t.same(
    await extract(
      table,
      `<?xml version="1.0"?>\n<f:foo xmlns:f="u">${body.replace('kind=y', "kind='y'")}</f:foo>`,
    ),
    expected,
  );
});

t.test("E-90 to E-93 unmapped content is the parent's; ignore drops it, parent keeps it", async (t) => {
  const table = '<BODY> body\n<B> keywords,parent\n<H> headings\n<CODE> ignore\n';
  const text =
    '<doc>lost<body><h>Head</h>One <i>two</i> <b>three</b>, <code>x <b>y</b></code>four.</body>lost</doc>';
  t.same(await extract(table, text), { headings: 'Head', keywords: 'three', body: 'One two three, four.' });
});

t.test('E-95 white space is collapsed; an element after a tag begins a line', async (t) => {
  const table = '<*> body\n<I> it,parent\n';
  t.equal((await extract(table, '<d>\n <p>One\n\t two</p>\n <p>three</p></d>')).body, 'One two\nthree');
  t.equal((await extract(table, '<d><p>a</p><p>b</p></d>')).body, 'a\nb', 'without a blank in between');
  t.equal((await extract(table, '<d>H<i>2</i>O and <i>x</i> <i>y</i></d>')).body, 'H2O and x y');
  t.equal((await extract(table, '<d><i>x</i><i>x</i></d>')).it, 'x\nx', 'repetitions are kept');
});

t.test('E-99 references are made absolute unless the option keeps them raw', async (t) => {
  const table = '<LINK:HREF> url-references\n';
  const text =
    '<a xmlns:xlink="x"><link href="../b.xml"/><link xlink:href="#here"/><link href="http://C.test/"/></a>';
  t.equal(
    (await extract(table, `<?xml version='1.0'?>${text}`))['url-references'],
    'http://a.test/b.xml\nhttp://c.test/',
  );
  t.equal(
    (await extract(table, text, { rawReferences: true }))['url-references'],
    '../b.xml\n#here\nhttp://C.test/',
  );
});

t.test('E-87 entities and CDATA of XML are text; comments and instructions are not', async (t) => {
  const text =
    '<?xml version="1.0"?><!-- <x> --><!DOCTYPE d [\n<!ENTITY who "W&#246;rld"><!ENTITY % p SYSTEM "http://no.test/">\n<!ENTITY lol "&who;&who;">]><d>Hi &who; &amp; &lt;b&gt; &eacute;&#x41; &nope; <![CDATA[<raw> &amp;]]><?pi <x>?><!-- c --> &lol;</d>';
  t.equal(
    (await extract('<D> body\n', text)).body,
    'Hi W&#246;rld & <b> éA &nope; <raw> &amp; &who;&who;',
    'entities are replaced once, so that no expansion can grow',
  );
});

t.test('E-87 SGML is read without its DTD, even with omitted end tags', async (t) => {
  const table = '<T> title\n<P> body\n<SEC> sec\n';
  const text =
    '<!doctype foo system "x>y" [ <!element p - o (#pcdata)> ]><foo><t>Title</t><p>One<p>Two <q>in</q><p>Three</foo>';
  t.same(await extract(table, text), { title: 'Title', body: 'One\nTwo in\nThree' });
  t.same(await extract(table, '<foo><sec>a<sec>b</sec></sec><t>x</>y</foo>'), { sec: 'a\nb', title: 'x' });
  t.same(await extract(table, '<foo><p>a</q>b</p></foo>'), { body: 'ab' }, 'a stray end tag is ignored');
});

t.test('deeply nested, unclosed and damaged documents are summarized', async (t) => {
  const deep = document(`<a>${'<b>x<c>'.repeat(5000)}${'</c></b>'.repeat(5000)}`);
  const types = compileSgmlTypes({ types: { SGML: { file: 't', text: '<*> body\n' } } });
  t.match((await summarizeSgml(deep, 'SGML', types)).attributes[0]?.[1], /^x/);
  t.match(deep.warnings, [/nested deeper than 1000 elements/]);
  for (const text of '|<|<!DOCTYPE|<!DOCTYPE a [|<a b="|<a b=\'c" d>|</|<![CDATA[x|&|<?xml'.split('|')) {
    await t.resolves(summarizeSgml(document(text), 'SGML', types), text);
  }
});

t.test('property: the event stream of any document is balanced', async () => {
  const fragment = fc.constantFrom(
    ...'<a>|<b x="1">|</a>|</b>|<c/>|</>|text|&amp;|<!--|-->|<|>|"| |<?xml ?>|<!DOCTYPE a [|]>'.split('|'),
  );
  assertProperty(
    fc.property(fc.array(fragment, { maxLength: 40 }), (fragments) => {
      const events = {
        depth: 0,
        open() {
          this.depth++;
        },
        text(data: string) {
          if (data === '') throw new Error('empty text');
        },
        close() {
          if (--this.depth < 0) throw new Error('closed what was not open');
        },
      };
      const text = fragments.join('');
      return readMarkupEvents(text, readProlog(text), events, 100);
    }),
  );
});

t.test('E-100 the shipped generic table: the first title is the title, others are headings', async (t) => {
  const types = compileSgmlTypes(await readSgmlSources(undefined));
  const text =
    '<?xml version="1.0"?><book><title>The Book</title><author>Ann</author><chapter><title>One</title><para>Text <emphasis>strong</emphasis> here.</para></chapter><chapter><title>Two</title></chapter></book>';
  t.same(Object.fromEntries((await summarizeSgml(document(text), 'XML', types)).attributes), {
    title: 'The Book',
    headings: 'One\nTwo',
    author: 'Ann',
    keywords: 'strong',
    body: 'The Book\nAnn\nOne\nText strong here.\nTwo',
  });
});

t.test('E-117 a type with a table also yields the full text', async (t) => {
  const types = compileSgmlTypes({ types: { FOO: { file: 't', text: '<T> title\n' } } });
  const doc = document('<foo><t>T</t><title>Big</title><p>all words</foo>');
  const whole = { ...doc, settings: { ...doc.settings, fullText: true } };
  t.same(await summarizeSgml(doc, 'FOO', types), { attributes: [['title', 'T']] });
  t.same(await summarizeSgml(whole, 'FOO', types), {
    attributes: [
      ['title', 'Big'],
      ['full-text', 'T\nBig\nall words'],
    ],
  });
});

const FOO = {
  'FOO.sum': '#!/bin/sh\nexec SGML.sum FOO $*\n',
  'sgmls-lib/catalog': 'DOCTYPE FOO FOO/FOO.dtd\n',
  'sgmls-lib/FOO/FOO.dtd':
    '<!ELEMENT FOO O O (TI,P+)>\n<!ELEMENT TI O O (#PCDATA|B)*>\n<!ELEMENT (P|B) - O (#PCDATA|B)*>\n<!ATTLIST P ALIGN (left|right) #IMPLIED>\n<!ENTITY eacute SDATA "[eacute]">\n',
  'sgmls-lib/FOO/FOO.sum.tbl': '<TI> title\n<P> body\n<P,ALIGN=left> left\n<B> keywords,parent\n',
};

t.test('E-82, E-84, E-86 four steps define a new type, with and without OpenSP', async (t) => {
  const lib = await directoryWith(t, FOO);
  const { sgml } = await findTypePrograms([lib]);
  t.same(sgml, { FOO: { documentType: 'FOO' } });
  const types = compileSgmlTypes(await readSgmlSources(lib, sgml));
  const text = '<TI>Hello <B>big</B> w&eacute;rld<P ALIGN=left>One<P>Two</FOO>';
  const probe = await runProgram({ program: 'onsgmls', arguments: ['-v'], directory: lib }, OPEN_SP);
  if (probe.failure === 'there is no such program') {
    t.comment('onsgmls is not installed');
  } else {
    const doc = document(text);
    const summary = await summarizeSgml(doc, 'FOO', types, { openSp: OPEN_SP });
    t.same(Object.fromEntries(summary.attributes), {
      keywords: 'big',
      title: 'Hello big wérld',
      left: 'One',
      body: 'Two',
    });
    t.same(doc.warnings, []);
    const invalid = document('<FOO><TI>x<P>y<NO>z</FOO>');
    const partial = await summarizeSgml(invalid, 'FOO', types, { openSp: OPEN_SP, syntaxCheck: true });
    t.equal(Object.fromEntries(partial.attributes).title, 'x');
    t.match(invalid.warnings, [/onsgmls says: .*element "NO" undefined/s], 'E-85 syntax_check');
  }
  const without = await summarizeSgml(document(`<!DOCTYPE FOO SYSTEM><FOO>${text}`), 'FOO', types);
  t.equal(Object.fromEntries(without.attributes).left, 'One');
});

t.test('E-87 OpenSP never reads the declarations of a document: neither files nor addresses', async (t) => {
  const lib = await directoryWith(t, { ...FOO, secret: 'SECRET' });
  const types = compileSgmlTypes(await readSgmlSources(lib));
  for (const declaration of [
    `<!DOCTYPE FOO SYSTEM "${lib}/sgmls-lib/FOO/FOO.dtd" [<!ENTITY s SYSTEM "${lib}/secret">]>`,
    `<!DOCTYPE FOO [<!ENTITY % a '<!ENTITY s SYSTEM "${lib}/secret">'> %a;]>`,
    `<!DOCTYPE FOO [<!ENTITY s "<!ENTITY"><!ENTITY t CDATA "x"> <!ENTITY s SYSTEM "${lib}/secret">]>`,
    `<!DOCTYPE FOO><!DOCTYPE BAR [<!ENTITY s SYSTEM "${lib}/secret">]>`,
  ]) {
    const summary = await summarizeSgml(document(`${declaration}<FOO><TI>T<P>&s;</FOO>`), 'FOO', types, {
      openSp: OPEN_SP,
    });
    t.notMatch(JSON.stringify(summary.attributes), /SECRET/, declaration);
  }
});

t.test('E-83 a table of the Gatherer lib precedes sgmls-lib; E-101 a script may name a table', async (t) => {
  const lib = await directoryWith(t, {
    ...FOO,
    'FOO.sum.tbl': '<TI> mine\n',
    'BAR.sum': '#!/bin/sh\nexec SGML.sum -t my.table FOO $*\n',
    'my.table': '<TI> special\n',
  });
  const { sgml } = await findTypePrograms([lib]);
  const types = compileSgmlTypes(await readSgmlSources(lib, sgml));
  const extracted = async (type: string) =>
    Object.fromEntries((await summarizeSgml(document('<FOO><TI>x</TI></FOO>'), type, types)).attributes);
  t.same(await extracted('FOO'), { mine: 'x' });
  t.same(await extracted('BAR'), { special: 'x' });
  await rm(join(lib, 'my.table'));
  await t.rejects(readSgmlSources(lib, sgml), { message: /^BAR\.sum: -t: the table cannot be read/ });
});

t.test('E-34: all tables and rule files that are wrong are named, not only the first', async (t) => {
  const bad = (file: string) => ({ file, text: '# a table\nTI title\n' });
  const sources = {
    ...(await readEssenceSources(IDENTITY)),
    'byname.cf': { file: 'lib/byname.cf', text: 'HTML (\n' },
    sgml: {
      types: {
        FOO: bad('FOO.sum.tbl'),
        GOOD: { file: 'GOOD.sum.tbl', text: '<A> b\n' },
        BAR: bad('BAR.sum.tbl'),
      },
    },
  };
  t.throws(() => compileEssence(IDENTITY, sources), {
    message: /^lib\/byname\.cf:1: .*\nFOO\.sum\.tbl:2: .*\nBAR\.sum\.tbl:2: [^\n]*$/,
  });
});

t.test('E-45: short references to long entities do not multiply a document beyond limits', async (t) => {
  const declared = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "${'x'.repeat(4000)}">]>`;
  const output = await summarizeDocument(
    'http://a.test/x.xml',
    `${declared}<x><title>${'&a;'.repeat(300_000)}</title></x>`,
  );
  t.equal(output.type, 'SGML');
  t.notOk(output.rejected);
});
