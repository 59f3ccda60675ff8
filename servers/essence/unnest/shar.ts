import { UnnestError } from '../errors.js';
import { ByteReader, type Chunks } from './chunks.js';
import type { Member } from './member.js';
import { uuencodedMembers } from './uuencode.js';

/** Maximum length of a command line, in bytes. */
const MAX_LINE = 64 * 1024;
/** Bytes of text that are passed on together. */
const PIECE = 16 * 1024;

/** A here-document that is written to a file. */
interface HereDocument {
  readonly name: string;
  readonly delimiter: string;
  /** The prefix that `sed` removes from each line. */
  readonly prefix: string;
  /** Whether the whole prefix is required or only its first character. */
  readonly uuencoded: boolean;
}

/**
 * Yields the files of a shell archive (E-43): the here-documents of its `cat` and `sed` commands. No command is
 * ever executed; files that other commands create are not found.
 */
export async function* sharMembers(chunks: Chunks): AsyncIterable<Member> {
  const reader = new ByteReader(chunks);
  let found = false;
  for (let line = await reader.line(MAX_LINE); line !== undefined; line = await reader.line(MAX_LINE)) {
    const here = hereDocument(line);
    if (here === undefined) continue;
    const state = { ended: false };
    const text = documentLines(reader, here, state);
    if (here.uuencoded) {
      found = true;
      yield* uuencodedMembers(text);
    } else if (here.name !== '') {
      found = true;
      yield { name: here.name, content: text };
    }
    while (!state.ended) for await (const _ of documentLines(reader, here, state));
  }
  if (!found) throw new UnnestError('it contains no here-document for a file', 'E-43');
}

/** Parses the command that begins a here-document; its words can be in any order. */
function hereDocument(line: string): HereDocument | undefined {
  const operator = /<<-?\s*(?:'([^']+)'|"([^"]+)"|\\?([^\s'"\\;&|<>]+))/.exec(line);
  if (operator === null || /^\s*#/.test(line)) return undefined;
  const command = line.slice(0, operator.index);
  const rest = command + line.slice(operator.index + operator[0].length);
  const target = /(?:^|[^0-9&>])>{1,2}\s*(?:'([^']+)'|"([^"]+)"|([^\s'";&|<>]+))/.exec(rest);
  const sed =
    /\bsed\s+(?:-e\s*)?(?:'s[/,@]\^([^/,@]*)[/,@]{2}'|"s[/,@]\^([^/,@]*)[/,@]{2}"|s[/,@]\^([^/,@\s]*)[/,@]{2})/.exec(
      line,
    );
  return {
    delimiter: operator[1] ?? operator[2] ?? operator[3] ?? '',
    name: target?.[1] ?? target?.[2] ?? target?.[3] ?? '',
    prefix: sed?.[1] ?? sed?.[2] ?? sed?.[3] ?? '',
    uuencoded: /\buudecode\b/.test(line),
  };
}

/**
 * The lines of a here-document, several in a piece: archives in archives pass each piece through all layers.
 */
async function* documentLines(reader: ByteReader, here: HereDocument, state: { ended: boolean }): Chunks {
  let text = '';
  for (;;) {
    const line = await reader.line(MAX_LINE);
    if (line === undefined || line === here.delimiter) {
      state.ended = true;
      if (text !== '') yield Buffer.from(text, 'latin1');
      if (line === undefined) throw new UnnestError(`the here-document of ${here.name} has no end`, 'E-43');
      return;
    }
    text += `${here.prefix !== '' && line.startsWith(here.prefix) ? line.slice(here.prefix.length) : line}\n`;
    if (text.length < PIECE) continue;
    yield Buffer.from(text, 'latin1');
    text = '';
  }
}
