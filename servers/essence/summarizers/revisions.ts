import type { SourceDocument, Summary } from '../document.js';
import { oneLine, present, summarizeFields } from './extracted.js';

/** Maximum number of files of a patch, and of authors of a history. */
const MAX_NAMES = 5000;
/** Maximum length of one name, in characters. */
const MAX_NAME = 4096;
/** First byte of SCCS's control lines. */
const SOH = '\u0001';

/** Patch: names of the patched files (6.2). */
export function summarizePatch(document: SourceDocument): Summary {
  const names = new Set<string>();
  for (const found of document.text.matchAll(
    /^(?:Index: |\+\+\+ |--- |\*\*\* |rename (?:from|to) |diff (?:-\S+ )*)([^\t\n\r]+)/gm,
  )) {
    // A `diff` line ends with the name. Hunk headers of context diffs (`*** 1,5 ****`) look like names.
    const name = found[0].startsWith('diff ') ? (found[1]!.split(' ').pop() ?? '') : found[1]!;
    if (/^\d+(?:,\d+)? (?:\*{4}|-{4})$/.test(name) || name === '/dev/null' || /^-+$/.test(name)) continue;
    const plain = name
      .slice(0, MAX_NAME)
      .replace(/(?<!\s)\s+(?:\d{4}-\d\d|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b).*$/, '')
      .replace(/^[ab]\//, '')
      .trim();
    if (plain !== '') names.add(plain);
    if (names.size >= MAX_NAMES) break;
  }
  const before = document.text.slice(0, 20_000).split(/^(?:diff |Index: |--- |\*\*\* )/m)[0]!;
  return summarizeFields({ attributes: present([['References', names]]), text: before });
}

/** RCS: authors of all revisions; version, date and log of the head (6.2). */
export function summarizeRcs(document: SourceDocument): Summary {
  const { text } = document;
  const head = /^head\s+([\d.]+)\s*;/m.exec(text)?.[1];
  const authors = new Set<string>();
  for (const found of text.matchAll(/^date\s+[\d.]+;\s+author\s+([^;\s]+);/gm)) {
    authors.add(found[1]!);
    if (authors.size >= MAX_NAMES) break;
  }
  const headPattern = head === undefined ? '' : escapeRegExp(head);
  const date =
    head === undefined
      ? undefined
      : new RegExp(`^${headPattern}\\s*\\ndate\\s+([\\d.]+);`, 'm').exec(text)?.[1];
  const log =
    head === undefined
      ? undefined
      : new RegExp(`^${headPattern}\\s*\\nlog\\s*\\n@((?:[^@]|@@)*)@`, 'm').exec(text)?.[1];
  const description = /^desc\s*\n@((?:[^@]|@@)*)@/m.exec(text)?.[1];
  return summarizeFields({
    attributes: present([
      ['Author', authors],
      ['Description', log?.replaceAll('@@', '@').trim()],
      ['Version', head],
      ['Date', rcsDate(date)],
    ]),
    text: (description ?? '').replaceAll('@@', '@'),
  });
}

/** Converts `1994.05.17.12.30.00`; old files have two digits for the year. */
function rcsDate(date: string | undefined): string | undefined {
  const found = /^(\d{2,4})\.(\d\d)\.(\d\d)\.(\d\d)\.(\d\d)\.(\d\d)$/.exec(date ?? '');
  if (found === null) return date;
  const year = found[1]!.length === 2 ? `19${found[1]}` : found[1]!;
  return `${year}-${found[2]}-${found[3]} ${found[4]}:${found[5]}:${found[6]}`;
}

/** SCCS: the attributes of RCS, from a history whose control lines begin with SOH. */
export function summarizeSccs(document: SourceDocument): Summary {
  const authors = new Set<string>();
  let version: string | undefined;
  let date: string | undefined;
  const comments: string[] = [];
  for (const line of document.text.split('\n')) {
    const delta = line.startsWith(SOH)
      ? /^d [DR] ([\d.]+) (\d\d\/\d\d\/\d\d \d\d:\d\d:\d\d) (\S+)/.exec(line.slice(1))
      : null;
    if (delta !== null) {
      if (authors.size < MAX_NAMES) authors.add(delta[3]!);
      version ??= delta[1];
      date ??= delta[2];
    } else if (line.startsWith(`${SOH}c `) && authors.size === 1 && comments.length < 100)
      comments.push(oneLine(line.slice(3)));
    else if (line.startsWith(`${SOH}u`)) break;
  }
  return summarizeFields({
    attributes: present([
      ['Author', authors],
      ['Description', comments],
      ['Version', version],
      ['Date', date],
    ]),
    text: '',
  });
}

function escapeRegExp(text: string): string {
  return text.replace(/[.]/g, '\\.');
}
