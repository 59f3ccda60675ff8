import type { SourceDocument, SummarizerContext, Summary } from '../document.js';
import { oneLine, present, summarizeExtracted, summarizeFields } from './extracted.js';
import { summarizeFile, summarizeUnrecognized, withLineFeeds } from './text.js';

/** WaisSource: the fields of the `(:source ...)` form (6.2). */
export function summarizeWaisSource(document: SourceDocument): Summary {
  const field = (name: string): string | undefined => {
    const found = new RegExp(
      `:${name}\\s+(?:#\\d+\\s*)?(?:"((?:[^"\\\\]|\\\\[\\s\\S])*)"|([^\\s()"]+))`,
      'i',
    ).exec(document.text);
    return (found?.[1] ?? found?.[2])?.replace(/\\([\s\S])/g, '$1').trim();
  };
  const description = field('description');
  return summarizeFields({
    attributes: present([
      ['Title', field('database-name')],
      ['Description', description],
      ['Author', field('maintainer')],
      ['Host', field('ip-name') ?? field('ip-address')],
      ['Port', field('tcp-port')],
    ]),
    text: description ?? '',
  });
}

/** LSM: lines `Name: value` and `Name = value`; a line without a name continues the previous value (E-48). */
export function summarizeLsm(document: SourceDocument): Summary {
  const values: [string, string][] = [];
  for (const line of withLineFeeds(document.text).split('\n')) {
    const found = /^([A-Za-z][\w-]{0,40}?)\d?\s*[:=]\s*(.*)$/.exec(line);
    const last = values[values.length - 1];
    if (found !== null) values.push([found[1] === 'Desc' ? 'Description' : found[1]!, found[2]!.trim()]);
    else if (last !== undefined && /^\s+\S/.test(line) && last[1].length < 20_000)
      last[1] += `\n${line.trim()}`;
  }
  return summarizeFields({ attributes: present(values), text: values.map(([, value]) => value).join('\n') });
}

/** RFC, FYI, Internet-Draft: title, author and abstract of the heading, then as Text (6.2). */
export function summarizeRfc(document: SourceDocument): Summary {
  const text = withLineFeeds(document.text);
  const head = text.slice(0, 20_000);
  // The heading has two columns; the title is the first centered paragraph after it.
  const blocks = head.split(/\n\s*\n/).filter((block) => block.trim() !== '');
  const first = blocks.findIndex((block) =>
    /^(?:Network Working Group|Internet|Request for Comments|RFC)/im.test(block),
  );
  const title = blocks.slice(first + 1).find((block) => /^ {3,}\S/.test(block.replace(/^\n+/, '')));
  const authors = [
    ...(blocks[Math.max(0, first)] ?? '').matchAll(/ {3,}((?:[A-Z]\. ?)+(?:[a-z]+ )?[A-Z][\p{L}'-]+)/gu),
  ];
  const abstract = /^(?:\d\. )?\s{0,3}Abstract[^\S\n]*\n+((?: .*\n|\n(?= ))+)/m.exec(head)?.[1];
  return summarizeExtracted({
    attributes: present([
      ['Title', title === undefined ? undefined : oneLine(title)],
      ['Author', authors.map((found) => found[1]!)],
      ['Abstract', abstract === undefined ? undefined : oneLine(abstract)],
    ]),
    text,
  });
}

/** Framemaker: the strings of the paragraphs of a MIF file (6.2); headings by the names of their formats. */
export function summarizeFramemaker(document: SourceDocument): Summary {
  const lines: string[] = [];
  const headings: string[] = [];
  let line = '';
  let format = '';
  const flush = () => {
    if (line.trim() !== '') lines.push(line);
    if (/^(?:heading|head|title|chapter)/i.test(format) && line.trim() !== '' && headings.length < 2000)
      headings.push(oneLine(line));
    line = '';
  };
  for (const found of document.text.matchAll(
    /<(Para|PgfTag|String|Char)\b[ \t]*(?:`([^'`\n]{0,4000})'|([A-Za-z]+))?/g,
  )) {
    const [, tag, text, word] = found;
    if (tag === 'Para') flush();
    else if (tag === 'PgfTag') format = text ?? '';
    else if (tag === 'String') line += unescapeMif(text ?? '');
    else line += word === 'HardReturn' ? '\n' : ' ';
  }
  flush();
  const title = headings[0];
  return summarizeExtracted({
    attributes: present([
      ['Title', title],
      ['Headings', headings],
    ]),
    text: lines.join('\n'),
  });
}

function unescapeMif(text: string): string {
  return text
    .replace(/\\x([0-9a-f]{2}) /gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\q/g, "'")
    .replace(/\\t/g, '\t')
    .replace(/\\(.)/g, '$1');
}

/** SymbolicLink: its name, owner, creation, and its target (E-79). */
export function summarizeSymbolicLink(document: SourceDocument): Summary {
  const target = oneLine((document.linkTarget ?? document.text).slice(0, 4096));
  return {
    attributes: [...summarizeFile(document).attributes, ...present([['References', target]])],
    text: '',
  };
}

/** Maximum size of the first header of an ARJ archive, in bytes; 0 marks the end of an archive. */
const MAX_ARJ_HEADER_BYTES = 2600;

/** Archives that are not unpacked, and the check of their first bytes. */
const SIGNATURES = {
  ARJ: (head: Buffer) => {
    const size = head.length < 4 ? 0 : head.readUInt16LE(2);
    return head[0] === 0x60 && head[1] === 0xea && size > 0 && size <= MAX_ARJ_HEADER_BYTES;
  },
  LHa: (head: Buffer) => /^[\s\S]{2}-l[hz][0-9ds]-/.test(head.toString('latin1', 0, 7)),
  Zoo: (head: Buffer) =>
    head.toString('latin1', 0, 4) === 'ZOO ' && head.toString('latin1', 20, 24) === '\xdc\xa7\xc4\xfd',
} as const;

/**
 * Returns the summarizer of ARJ, LHa or Zoo archives, which are recognized by name and content but not
 * unpacked. The summary is the name (E-14). A warning states the kind of archive, or that the bytes are of
 * another kind, and the remedy (E-46).
 */
export function unreadArchive(
  type: keyof typeof SIGNATURES,
): (document: SourceDocument, context: SummarizerContext) => Summary {
  return (document, { describe }) => {
    // E-118: with --no-access there are no bytes to check.
    if (document.settings.access) document.warn(reason(type, document.body, describe));
    return summarizeUnrecognized(document);
  };
}

function reason(
  type: keyof typeof SIGNATURES,
  body: Uint8Array,
  describe: SummarizerContext['describe'],
): string {
  if (SIGNATURES[type](Buffer.from(body.subarray(0, 24)))) {
    return `${type} archives are not read, so the files in this one have no summaries; a program ${type}.unnest can unpack them (E-46)`;
  }
  return `its name says ${type} archive, but it is not one (${describe(body)}); it is not read (E-40)`;
}
