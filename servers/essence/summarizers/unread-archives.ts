import type { SourceDocument } from '../document.js';
import type { SummarizerContext, Summary } from '../summary.js';
import { summarizeUnrecognized } from './text.js';

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
