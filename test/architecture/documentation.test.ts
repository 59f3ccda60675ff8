// README.md stays short, the pages of docs/ name what the sources have, no link of a document leads nowhere, and
// specifications link to each other.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';
import { citationsIn, SPECIFICATIONS } from '../../protocols/specification/index.js';
import { COMMANDS } from '../../servers/cli/commands.js';
import { pageName } from '../../servers/cli/help/man-page.js';
import { EXIT_STATUSES } from '../../servers/cli/output/exit.js';
import { ROOT, textOf } from './sources.js';

const MAX_README_LINES = 120;

/** Markdown files of the root and of `docs`, all READMEs and specifications. */
function documents(): string[] {
  const found = ['.', 'docs'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  );
  for (const folder of ['protocols', 'storage', 'clients', 'servers', 'test', 'examples'])
    for (const entry of readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
      if (entry.isFile() && (entry.name === 'README.md' || entry.name === 'specification.md'))
        found.push(relative(ROOT, join(entry.parentPath, entry.name)));
  return found;
}

/** The anchors of a page: those of its headings, as GitHub makes them, and those of the rules. */
function anchorsOf(markdown: string): Set<string> {
  const headings = [...withoutCode(markdown).matchAll(/^#{1,6} +(.*?) *$/gm)].map(([, text = '']) => text);
  const made = headings.map((text) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  const given = [...markdown.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  return new Set([...made, ...given]);
}

/** The targets of the links of a page: `[text](target)` and `[label]: target`. */
function targetsOf(markdown: string): string[] {
  const links = withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm);
  return [...links].map(([, inline, listed = '']) => inline ?? listed);
}

function withoutCode(markdown: string): string {
  return markdown.replace(/^```.*?^```/gms, '');
}

/** The first cells of the rows of all tables. */
function firstCells(markdown: string): string[] {
  return [...markdown.matchAll(/^\| (.*?) (?<!\\)\|/gm)].map(([, cell = '']) => cell);
}

t.test(`README.md has at most ${MAX_README_LINES} lines`, async (t) => {
  const lines = textOf('README.md').trimEnd().split('\n').length;
  t.ok(lines <= MAX_README_LINES, `${lines} lines`);
});

t.test('every relative link leads to a file, and to a heading of it', async (t) => {
  const dead: string[] = [];
  for (const file of documents()) {
    for (const target of targetsOf(textOf(file))) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      const linked = path === '' ? file : join(dirname(file), path);
      if (!existsSync(join(ROOT, linked))) dead.push(`${file}: ${target}`);
      else if (anchor !== undefined && !anchorsOf(textOf(linked)).has(anchor))
        dead.push(`${file}: ${target}, no such heading`);
    }
  }
  t.same(dead, []);
});

/** Where no link is: code, tables of states, the line of the sources of a rule. */
const NO_LINKS = /^```.*?^```|^<!-- states:.*?^<!-- \/states -->|^\*[A-Z]+ · [^\n]*$|`[^`]*`/gms;

for (const { folder, prefixes } of SPECIFICATIONS) {
  const file = `${folder}/specification.md`;
  t.test(`${file} links to the rules of other documents, and to their specifications`, async (t) => {
    const text = textOf(file).replace(NO_LINKS, '');
    const definition = /^\[([^\]]+)\]: .*$/gm;
    const running = text.replace(definition, '');
    const defined = new Set([...text.matchAll(definition)].map(([, label]) => label));
    const used = new Set([...running.matchAll(/\[([A-Z]+-\d[\w.]*)\]/g)].map(([, label]) => label));
    t.same([...used].sort(), [...defined].sort(), 'every rule in brackets has its target at the end');
    t.same(
      citationsIn(running.replace(/\[[^\]]*\](?:\([^)]*\))?/g, '')).filter(
        (id) => !prefixes.includes(id.slice(0, id.indexOf('-'))),
      ),
      [],
      'every rule of another document is in brackets',
    );
    const folders = targetsOf(text)
      .filter((target) => target.endsWith('/README.md'))
      .map((target) => dirname(join(folder, target)));
    t.same(
      folders.filter((one) => SPECIFICATIONS.some((other) => other.folder === one)),
      [],
      'a specification, not its README, is linked',
    );
  });
}

t.test('docs/README.md links to every page of docs', async (t) => {
  const index = textOf('docs/README.md');
  for (const name of readdirSync(join(ROOT, 'docs')))
    if (name.endsWith('.md') && name !== 'README.md') t.ok(index.includes(`](${name})`), name);
});

t.test('docs/commands.md has a row for every command', async (t) => {
  const cells = firstCells(textOf('docs/commands.md')).join('\n');
  const named = new Set([...cells.matchAll(/`harvest ([\w.-]+)/g)].map(([, name]) => name));
  t.same([...named].sort(), COMMANDS.map(({ name }) => name).sort());
});

t.test('docs/run.md lists options that run has, with their defaults', async (t) => {
  const run = COMMANDS.find(({ name }) => name === 'run');
  const options = (await run?.load())?.options ?? [];
  const rows = [...textOf('docs/run.md').matchAll(/^\| (`--.*?) \| (.*?) \|/gm)];
  t.ok(rows.length > 10);
  for (const [, cell = '', defaults = ''] of rows) {
    for (const [name] of cell.matchAll(/--[\w-]+/g)) {
      const option = options.find(({ long }) => long === name);
      t.ok(option, `run has ${name}`);
      const value: unknown = option?.defaultValue;
      if (typeof value === 'number' || typeof value === 'string')
        t.match(defaults, new RegExp(`(?:^|\\D)${String(value)}`), `default of ${name}`);
    }
  }
});

t.test('docs/development.md names scripts and measurements that exist', async (t) => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const page = textOf('docs/development.md');
  const named = new Set([...page.matchAll(/npm run ([\w-]+)/g)].map(([, name = '']) => name));
  t.same(
    [...named].filter((name) => !(name in scripts)),
    [],
  );
  for (const [, name = ''] of page.matchAll(/npm run bench -- ([\w-]+)/g))
    t.ok(existsSync(join(ROOT, 'test/bench', `${name}.ts`)), name);
});

t.test('docs/dependencies.md lists the dependencies of package.json', async (t) => {
  const { dependencies } = JSON.parse(textOf('package.json')) as { dependencies: Record<string, string> };
  const [, ...rows] = firstCells(textOf('docs/dependencies.md')).filter((cell) => !cell.startsWith('---'));
  t.same(rows.flatMap((cell) => cell.split(', ')).sort(), Object.keys(dependencies).sort());
});

t.test('docs/exit-statuses.md lists every status', async (t) => {
  const page = textOf('docs/exit-statuses.md');
  const [, ...rows] = firstCells(page).filter((cell) => !cell.startsWith('---'));
  t.same(
    rows,
    EXIT_STATUSES.map(({ status }) => String(status)),
  );
  for (const { status, meaning, message } of EXIT_STATUSES) {
    const row = page.split('\n').find((line) => line.startsWith(`| ${status} |`)) ?? '';
    t.ok(row.includes(meaning) && row.includes(message), row);
  }
});

t.test(
  'package.json lists the manual page of every command, which `npm install -g` then links',
  async (t) => {
    const { man } = JSON.parse(textOf('package.json')) as { man: string[] };
    const names = ['harvest', ...COMMANDS.map(({ name }) => pageName(`harvest ${name}`))];
    t.same(
      man,
      names.map((name) => `./dist/man/${name}.1`),
    );
  },
);

t.test('docs/library.md names every entry point of the package', async (t) => {
  const { exports } = JSON.parse(textOf('package.json')) as { exports: Record<string, string> };
  const page = textOf('docs/library.md');
  for (const name of Object.keys(exports)) {
    const last = name.split('/').at(-1) ?? '';
    if (name === '.' || name === './package.json' || name.startsWith('./clients/conformance/')) continue;
    t.ok(page.includes(`\`${last}\``) || page.includes(`harvest-kit/${last}\``), name);
  }
});
