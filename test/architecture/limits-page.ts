// Builds docs/limits.md from the schemas of the configuration files, the options of the commands and the option
// types of the library.
import type { Command } from 'commander';
import ts from 'typescript';
import { BROKER_FLAGS } from '../../protocols/broker/index.js';
import {
  BROKER_VARIABLES,
  GATHERER_VARIABLES,
  REFERER_VARIABLES,
  type VariableRow,
} from '../../protocols/config/index.js';
import { COMMANDS } from '../../servers/cli/commands.js';
import { describeSettings } from '../../servers/crawler/order/describe.js';
import { sourcesOf, TOP_FOLDERS, textOf } from './sources.js';

/** Names that are limits: a maximum, a minimum, a time, a size, a rate. */
const LIMIT_NAME =
  /max|(?<!ad)min(?!imal|ute|d)|limit|timeout|quota|budget|delay|grace|patience|linger|idle|deadline|memory|cache-?(?:Bytes|Size)|retr(?:y|ies)|attempts|backlog|deep|window/i;

/** One limit of the library: a member of an option type whose comment states the default. */
interface LibraryLimit {
  readonly folder: string;
  readonly type: string;
  readonly name: string;
  readonly text: string;
}

/** Renders the whole page. */
export async function renderLimitsPage(): Promise<string> {
  const sections = [
    HEAD,
    variables('broker.conf: the Broker', BROKER_VARIABLES.describe()),
    variables('A Gatherer’s configuration file', GATHERER_VARIABLES.describe()),
    variables('referer.cf: the references server', REFERER_VARIABLES.describe()),
    orderSettings(),
    queryFlags(),
    await commandOptions(),
    libraryLimits(),
  ];
  return sections.join('\n');
}

const HEAD = `# Limits

Every limit, with its default and where it is set. This page is made from the schemas and the option types by \`npm run limits\`; a test
compares them. [SECURITY.md](../SECURITY.md) explains what the limits protect.
`;

function variables(title: string, rows: readonly VariableRow[]): string {
  const limits = rows.filter(({ name, description }) => LIMIT_NAME.test(`${name} ${description}`));
  return section(
    title,
    ['variable', 'default', 'meaning'],
    limits.map((row) => [code(row.name), row.default, row.description]),
  );
}

function orderSettings(): string {
  const limits = describeSettings().filter(({ path }) => LIMIT_NAME.test(path));
  const rows = limits.map(({ path, default: value, unit, rule, text }) => [
    code(path),
    value === undefined ? '-' : `${JSON.stringify(value)}${unit === '' ? '' : ` ${unit}`}`,
    `${text} (${rule})`,
  ]);
  return section('Crawl orders (`Crawl-Order: FILE`)', ['setting', 'default', 'meaning'], rows);
}

function queryFlags(): string {
  const limits = Object.values(BROKER_FLAGS).filter(({ keyword, text }) =>
    LIMIT_NAME.test(`${keyword} ${text}`),
  );
  const rows = limits.map(({ keyword, argument, text, rule }) => [
    code(`${keyword} ${argument}`),
    `${text} (${rule})`,
  ]);
  return section('Flags of a query', ['flag', 'meaning'], rows);
}

async function commandOptions(): Promise<string> {
  const rows: string[][] = [];
  const visit = (command: Command, path: string): void => {
    for (const { flags, description, defaultValue } of command.options) {
      if (!LIMIT_NAME.test(flags)) continue;
      const shown: unknown = defaultValue;
      rows.push([code(path), code(flags), shown === undefined ? '-' : String(shown), description]);
    }
    for (const child of command.commands) visit(child, `${path} ${child.name()}`);
  };
  for (const entry of COMMANDS) visit(await entry.load(), entry.name);
  return section('Options of commands', ['command', 'option', 'default', 'meaning'], rows);
}

function libraryLimits(): string {
  const limits = TOP_FOLDERS.flatMap(sourcesOf).flatMap(limitsOf);
  const rows = limits.map(({ folder, type, name, text }) => [folder, code(`${type}.${name}`), text]);
  return section('Options of the library', ['folder', 'option', 'meaning and default'], rows);
}

/** The limits among the option types that a source file exports. */
function limitsOf(file: string): LibraryLimit[] {
  const text = textOf(file);
  if (!/[Dd]efault/.test(text)) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: LibraryLimit[] = [];
  for (const node of source.statements) {
    if (!ts.isInterfaceDeclaration(node) || !isExported(node)) continue;
    for (const member of node.members) {
      if (!ts.isPropertySignature(member) || !ts.isIdentifier(member.name)) continue;
      const comment = commentOf(member);
      if (!LIMIT_NAME.test(member.name.text) || !/\bdefault\b/i.test(comment)) continue;
      const folder = file.split('/').slice(0, -1).join('/');
      found.push({ folder, type: node.name.text, name: member.name.text, text: comment });
    }
  }
  return found;
}

function isExported(node: ts.InterfaceDeclaration): boolean {
  return node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
}

/** The documentation of a member as one line of plain text. */
function commentOf(member: ts.PropertySignature): string {
  const [comment] = ts.getJSDocCommentsAndTags(member);
  if (comment === undefined || !ts.isJSDoc(comment)) return '';
  const text = ts.getTextOfJSDocComment(comment.comment) ?? '';
  return text
    .replaceAll(/\{@link (\w+)\}/g, '`$1`')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function section(title: string, columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(' | ')} |`;
  const rule = line(columns.map(() => '---'));
  return `## ${title}\n\n${[line(columns), rule, ...rows.map(line)].join('\n')}\n`;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function code(text: string): string {
  return `\`${text}\``;
}
