// Manual pages from the help, for man(1).
import { EXIT_STATUSES } from '../output/exit.js';
import { type CommandHelp, type OptionHelp, sentence } from './command-help.js';

/** The parts of a manual page besides the help. */
export interface ManPageFacts {
  /** The package's version. */
  readonly version: string;
  /** Names of the original program that run the command; default: none. */
  readonly originals?: readonly string[];
  /** Names of other pages. */
  readonly related: readonly string[];
}

/** The name of a command's page, e.g. `harvest-crawl`. */
export function pageName(name: string): string {
  return name.replaceAll(' ', '-');
}

/** Renders the page of a command in the man macros (man(7)). */
export function manPage(command: CommandHelp, { version, originals = [], related }: ManPageFacts): string {
  const title = pageName(command.name);
  return [
    `.TH ${quoted(title.toUpperCase())} 1 "" ${quoted(`harvest-kit ${version}`)}`,
    '.SH NAME',
    `${escapeRoff(title)} \\- ${escapeRoff(command.summary)}`,
    '.SH SYNOPSIS',
    bold(command.usage),
    '.SH DESCRIPTION',
    escapeRoff(sentence(command.description)),
    ...(originals.length === 0
      ? []
      : ['.PP', escapeRoff(`A link to the program runs this command if its name is ${listed(originals)}.`)]),
    ...section('ARGUMENTS', command.operands.map(operand)),
    ...section('OPTIONS', command.options.map(option)),
    ...command.parts.flatMap((part) => [
      `.SH ${quoted(part.name.toUpperCase())}`,
      escapeRoff(sentence(part.description)),
      '.PP',
      bold(part.usage),
      ...part.operands.map(operand),
      ...part.options.map(option),
      ...(part.more === '' ? [] : blocks(part.more)),
    ]),
    ...explanations(command.more),
    ...(/^Exit status:/m.test(command.more) ? [] : exitStatuses(command)),
    ...(related.length === 0
      ? []
      : ['.SH "SEE ALSO"', related.map((name) => `.BR ${escapeRoff(pageName(name))} (1)`).join(' ,\n')]),
    '',
  ].join('\n');
}

/**
 * The text after the options: `Examples:`, also with a remark before the colon, and `Exit status:` become
 * sections, all before them belongs to the description.
 */
function explanations(text: string): string[] {
  const lines: string[] = [];
  for (const part of text.split(/\n+(?=(?:Examples?\b[^:\n]*|Exit status):)/)) {
    const heading = /^(Examples?|Exit status)\b[ ,]*([^:\n]*):\s*/.exec(part);
    if (heading !== null) lines.push(`.SH ${quoted((heading[1] ?? '').toUpperCase())}`);
    else if (part !== '') lines.push('.SH NOTES');
    const remark = heading?.[2] ?? '';
    if (remark !== '') lines.push(escapeRoff(sentence(remark.replace(/[()]/g, ''))), '.PP');
    const rest = part.slice(heading?.[0].trimEnd().length ?? 0).replace(/^(?:\n+| +)/, '');
    // A section begins with a paragraph of its own.
    if (rest !== '') lines.push(...blocks(rest).slice(1));
  }
  return lines;
}

/** All statuses, for a page whose command lists none of its own: its parts may. */
function exitStatuses({ parts }: CommandHelp): string[] {
  const hasOwn = parts.some(({ more }) => /^Exit status:/m.test(more));
  return [
    '.SH "EXIT STATUS"',
    ...(hasOwn ? ['The sections above list the statuses of each command.'] : []),
    ...EXIT_STATUSES.map(({ status, meaning }) => `.TP\n${bold(String(status))}\n${escapeRoff(meaning)}`),
  ];
}

/** Paragraphs are filled; those with indented lines are printed as they are. */
function blocks(text: string): string[] {
  return text.split(/\n{2,}/).flatMap((paragraph) => {
    const lines = paragraph.split('\n').map((line) => escapeRoff(line));
    return /^ {2}/m.test(paragraph) ? ['.PP', '.nf', ...lines, '.fi'] : ['.PP', ...lines];
  });
}

/** `a, b or c`. */
function listed(names: readonly string[]): string {
  return names.join(', ').replace(/, (?=[^,]*$)/, ' or ');
}

function section(name: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`.SH ${name}`, ...items];
}

function operand({ name, description }: { readonly name: string; readonly description: string }): string {
  return `.TP\n${bold(name)}\n${escapeRoff(description)}`;
}

function option({ flags, description }: OptionHelp): string {
  return `.TP\n${bold(flags)}\n${escapeRoff(description)}`;
}

function bold(text: string): string {
  return `\\fB${escapeRoff(text)}\\fR`;
}

function quoted(text: string): string {
  return `"${escapeRoff(text).replaceAll('"', '\\(dq')}"`;
}

/** Escapes text for roff: backslashes, hyphens that are typed, and characters that make a line a request. */
function escapeRoff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');
}
