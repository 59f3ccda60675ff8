// The registries of the specification, and the shipped files that it prints, are those of the code.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { parseEssenceOptions } from '../../../protocols/config/essence-options.js';
import { NESTED_TYPES, TYPES } from '../../../servers/essence/recognition/types.js';
import { words } from '../../../servers/essence/word-tables.js';
import { textOf } from '../../architecture/sources.js';
import { FIXTURES } from './read-fixture.js';

const document = textOf('servers/essence/specification.md');

/** The rows of the table under a heading, without its head and the brackets of links. */
function rowsUnder(heading: string): string[][] {
  const start = document.indexOf(`${heading}\n`);
  const end = document.indexOf('\n#', start + heading.length);
  const lines = document.slice(start, end).split('\n');
  const rows = lines.filter((line) => line.startsWith('| ')).slice(2);
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

/** The list of types of the manual (1.4, section B.2), which has Tex for TeX. */
const LISTED = `Archive Audio Awk Backup Binary C CHeader Command Compressed CompressedTar Configuration Data
  Directory DotFile Dvi FAQ FYI Font FormattedText GDBM GNUCompressed GNUCompressedTar HTML Image Internet-Draft
  MacCompressed Mail Makefile ManPage Object OtherCode PCCompressed Patch Perl PostScript RCS README RFC SCCS
  ShellArchive Tar Tcl TeX Text Troff Uuencoded WaisSource`;

/** The names in backquotes. */
const names = (text = ''): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

/** The lines of a file of rules, with one blank between their parts. */
const rulesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim().replace(/\s+/, ' '))
    .filter((line) => line !== '' && !line.startsWith('# ') && line !== '#');

/** The first block of a language in the text of a rule. */
function blockOf(rule: string, language = 'text'): string {
  const start = document.indexOf(`<a id="${rule}"></a>`);
  const [, block = ''] =
    new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(document.slice(start)) ?? [];
  return block;
}

const libOf = (name: string): string => textOf(`servers/essence/lib/${name}`);

t.test(
  'E-12 the types of the registry are those of the code, nested, summarized, or with a name only',
  async (t) => {
    const rows = new Map(
      rowsUnder('### Types').map(([type, , origin = '', treatment = '']) => [
        names(type)[0]!,
        { origin, treatment },
      ]),
    );
    for (const [type, { summarize }] of TYPES) {
      const row = rows.get(type);
      t.ok(row, `${type} is registered`);
      const isNameOnly = summarize === undefined && type !== 'SGML';
      const expected = NESTED_TYPES.has(type) ? 'nested' : isNameOnly ? 'name' : 'summary';
      // Their summarizers know the name only.
      const named = ['ARJ', 'LHa', 'Zoo', 'Unrecognized'].includes(type);
      t.equal(row?.treatment, named ? 'name' : expected, type);
    }
    const inFiles = new Set(
      ['byname.cf', 'byurl.cf', 'bycontent.cf', 'stoplist.cf'].flatMap((file) =>
        rulesOf(libOf(file)).map((line) => line.split(' ')[0]!),
      ),
    );
    for (const type of inFiles) t.ok(type === '*' || rows.has(type), `${type} of a shipped file`);
    const unknown = [...rows].filter(
      ([type, { origin }]) => origin === 'kit' && !TYPES.has(type) && !inFiles.has(type),
    );
    t.same(unknown, [], 'no type of the kit is invented');
    const listed = [...rows].filter(([, { origin }]) => origin === 'list').map(([type]) => type);
    t.same(listed.sort(), words(LISTED).sort(), 'the list of the manual');
  },
);

t.test('E-17, E-30, E-31 the files of rules that the specification prints are shipped', async (t) => {
  for (const [rule, file] of [
    ['E-17', 'byname.cf'],
    ['E-30', 'byurl.cf'],
    ['E-31', 'bycontent.cf'],
  ] as const)
    t.same(rulesOf(libOf(file)), rulesOf(blockOf(rule)), file);
});

t.test('E-19, E-20, E-97 so are the stop list, the URL filter and the table of HTML', async (t) => {
  const text = (rule: string): string => {
    const start = document.indexOf(`<a id="${rule}"></a>`);
    return document.slice(start, document.indexOf('\n#', start));
  };
  const [, stopped = ''] = /default list is: ([^.]*)\./.exec(text('E-19').replaceAll('\n', ' ')) ?? [];
  t.same(stopped.trim().split(/\s+/), rulesOf(libOf('stoplist.cf')));
  const [, denied = ''] = /kit denies: ([^.]*)\./.exec(text('E-20').replaceAll('\n', ' ')) ?? [];
  const filter = rulesOf(libOf('URL-filter-default'));
  t.equal(filter.at(-1), 'Allow .');
  for (const suffix of denied.split(/[\s;]+/).filter((word) => word !== ''))
    for (const written of [suffix, suffix.toUpperCase()]) {
      const denies = filter
        .filter((line) => line.startsWith('Deny '))
        .some((line) => new RegExp(line.slice('Deny '.length)).test(`/x.${written}`));
      t.ok(denies, written);
    }
  const table = new Map(rulesOf(libOf('HTML.sum.tbl')).map((line) => line.split(' ') as [string, string]));
  for (const [tags, target] of rowsUnder('#### <a id="E-97"></a>E-97'))
    for (const tag of names(tags)) t.equal(table.get(tag), target, tag);
});

t.test('E-116 the options of the registry are those that are read', async (t) => {
  for (const [options = ''] of rowsUnder('### Options'))
    for (const option of options.split(', ')) {
      const [name = ''] = names(option);
      const value = option.includes('*') ? ' 200' : '';
      t.doesNotThrow(() => parseEssenceOptions(name + value), name);
      if (value !== '') t.throws(() => parseEssenceOptions(name), `${name} needs a value`);
    }
  const read = textOf('protocols/config/essence-options.ts').matchAll(/\['(--[^']+)'|^ {4}'(--[^']+)'/gm);
  const registered = rowsUnder('### Options').flatMap(([options]) => names(options));
  t.same(
    [...read].map(([, one = '', other = '']) => one + other).filter((option) => !registered.includes(option)),
    [],
  );
  t.throws(() => parseEssenceOptions('--no-such-option'));
});

t.test('E-72, E-79, E-150 the attributes of the registry are those that documents get', async (t) => {
  const registered = new Set(rowsUnder('### Attributes').flatMap(([attribute]) => names(attribute)));
  // These have the names that the documents give them, or those of other rules.
  const others = new Set(['html', 'lsm', 'iafa', 'pcindex', 'netfind', 'referbibliographic', 'zoo']);
  for (const folder of await readdir(FIXTURES)) {
    if (others.has(folder)) continue;
    for (const file of await readdir(join(FIXTURES, folder)).catch(() => [])) {
      if (!file.endsWith('.json')) continue;
      const { expected, files } = JSON.parse(await readFile(join(FIXTURES, folder, file), 'utf8')) as {
        expected?: { attributes?: Record<string, unknown> };
        files?: unknown;
      };
      // Files of a user may name any attribute.
      if (files !== undefined) continue;
      const found = Object.keys(expected?.attributes ?? {}).filter(
        (name) => !registered.has(name) && !name.startsWith('Embed<'),
      );
      t.same(found, [], `${folder}/${file}`);
    }
  }
});

t.test('E-79, E-150 the documents of a type get the attributes that the rule names for it', async (t) => {
  const byType = new Map<string, string>();
  const add = (types = '', attributes = ''): void => {
    for (const type of types.replaceAll('\\*', '').toLowerCase().split(', '))
      byType.set(type, `${byType.get(type) ?? ''}, ${attributes}`);
  };
  for (const [types, , attributes] of rowsUnder('#### <a id="E-79"></a>E-79')) add(types, attributes);
  for (const [types, attributes] of rowsUnder('#### <a id="E-150"></a>E-150')) add(types, attributes);
  let compared = 0;
  for (const [type, attributes] of byType) {
    if (/as the table says|E-58|none:/.test(attributes)) continue;
    const allowed = new Set(
      attributes
        .replace(/`[^`]*`|\w+:/g, '')
        .split(/[,;]\s*/)
        .map((name) => name.trim()),
    );
    for (const file of await readdir(join(FIXTURES, type)).catch(() => [])) {
      if (!file.endsWith('.json')) continue;
      const { expected, files, options } = JSON.parse(await readFile(join(FIXTURES, type, file), 'utf8')) as {
        expected?: { attributes?: Record<string, unknown> };
        files?: unknown;
        options?: unknown;
      };
      // Files and options of a user add attributes.
      if (files !== undefined || options !== undefined) continue;
      const found = Object.keys(expected?.attributes ?? {});
      compared += found.length;
      t.same(
        found.filter((name) => !allowed.has(name) && !name.startsWith('Embed<')),
        [],
        `${type}/${file}`,
      );
    }
  }
  t.ok(compared > 300, `${compared} attributes`);
});
