import type { Attachment } from 'postal-mime';
import { messageOf } from '../../../protocols/errors.js';
import { latin } from '../bytes.js';
import { UnnestError } from '../errors.js';
import { boundedMessage, withReadableCharsets } from '../message-charsets.js';
import { wordPairs } from '../word-tables.js';
import { type Chunks, chunksOf, collect, type Member } from './chunks.js';

/** Maximum depth of nested MIME parts. */
const MAX_PARTS_DEPTH = 32;

/** Maximum number of lines of a message whose parts are read: a line costs the parser as much as a kilobyte. */
const MAX_LINES = 500_000;

/** Suffixes of parts without a name, for byname.cf. */
const ENDINGS: ReadonlyMap<string, string> = wordPairs(`
  text/html html text/plain txt message/rfc822 eml application/pdf pdf application/postscript ps
  application/zip zip application/gzip gz
`);

/** Whether a message has attached files, by its header (E-44). */
export function hasParts(head: Uint8Array): boolean {
  const text = latin(head);
  const end = /\r?\n\r?\n/.exec(text)?.index ?? text.length;
  return /^content-type:\s*multipart\/(?!alternative)/im.test(text.slice(0, end));
}

/**
 * Yields the attached files of a mail or news message (E-44); the text of the message belongs to its summary.
 */
export async function* mimeMembers(chunks: Chunks, limit: number): AsyncIterable<Member> {
  const bytes = await collect(chunks, limit);
  if (hasMoreLines(bytes, MAX_LINES)) {
    throw new UnnestError(`a message of more than ${MAX_LINES} lines`, 'E-45');
  }
  const bounded = boundedMessage(bytes);
  let parts: readonly Attachment[];
  const { default: PostalMime } = await import('postal-mime');
  try {
    const message = await PostalMime.parse(withReadableCharsets(bounded.bytes), {
      attachmentEncoding: 'arraybuffer',
      forceRfc822Attachments: true,
      maxNestingDepth: MAX_PARTS_DEPTH,
    });
    parts = message.attachments;
  } catch (error) {
    throw new UnnestError(`the parts of the message cannot be read: ${messageOf(error)}`, 'E-44', error);
  }
  let number = 0;
  for (const { filename, mimeType, content } of parts) {
    number++;
    const ending = ENDINGS.get(mimeType);
    const name = filename ?? `part-${number}${ending === undefined ? '' : `.${ending}`}`;
    const data = typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content);
    yield { name: name.replace(/^.*[/\\]/, ''), content: chunksOf(data) };
  }
  if (bounded.problem !== undefined) throw new UnnestError(bounded.problem.replace(' (E-45)', ''), 'E-45');
}

function hasMoreLines(bytes: Uint8Array, maxLines: number): boolean {
  let index = -1;
  for (let lines = 0; lines <= maxLines; lines++) {
    index = bytes.indexOf(0x0a, index + 1);
    if (index < 0) return false;
  }
  return true;
}
