import PostalMime, { type Address, type Email } from 'postal-mime';
import { bufferOf } from '../bytes.js';
import type { SourceDocument, Summary } from '../document.js';
import { boundedMessage, withReadableCharsets } from '../message-charsets.js';
import { words } from '../word-tables.js';
import {
  type Extracted,
  oneLine,
  present,
  summarizeExtracted,
  summarizeFields,
  unreadable,
} from './extracted.js';

/** Maximum number of bytes of one message that are parsed: attachments are at the end. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Maximum number of lines of one message that are parsed: a line costs the parser as much as a kilobyte. */
const MAX_LINES = 100_000;
/** Maximum depth of nested MIME parts. */
const MAX_NESTING = 50;
/** Maximum number of messages of one folder that are read. */
const MAX_MESSAGES = 500;
/** Maximum number of bytes of all header fields, and of boundaries, of the messages of one folder. */
const MAX_FOLDER_HEADER_BYTES = 2 * 1024 * 1024;
const MAX_FOLDER_BOUNDARIES = 10_000;

/** Attributes that are no header field of the same name. */
const VALUES: Readonly<Record<string, (email: Email) => string | undefined>> = {
  Author: ({ from }) => address(from),
  Title: ({ subject }) => subject,
  To: ({ to }) => (to ?? []).map(address).join(', '),
  'Message-Id': ({ messageId }) => messageId,
  References: ({ references }) => references,
};
const MAIL = words('Author Title Date To Newsgroups Keywords Message-Id');
const NEWS = words('Author Title Date Newsgroups Keywords Summary Organization Message-Id References');

/** Mail: the header fields (6.2), and the body by the Text rule; for an mbox folder, those of every message. */
export async function summarizeMail(document: SourceDocument): Promise<Summary> {
  return summarizeExtracted(extractedOf(await readMessages(document), MAIL));
}

/** News: the header fields of an article (6.2). */
export async function summarizeNews(document: SourceDocument): Promise<Summary> {
  return summarizeFields(extractedOf(await readMessages(document), NEWS));
}

/** Returns each attribute of every message, and their texts. */
function extractedOf(emails: readonly Email[], names: readonly string[]): Extracted {
  const attributes = names.flatMap((name) => {
    const value = VALUES[name] ?? ((email: Email) => header(email, name.toLowerCase()));
    return emails.map((email) => [name, oneLine(value(email) ?? '')] as const);
  });
  return { attributes: present(attributes), text: emails.map(textOf).join('\n\n') };
}

async function readMessages(document: SourceDocument): Promise<Email[]> {
  const emails: Email[] = [];
  let read = 0;
  let headerBytes = 0;
  let boundaries = 0;
  let warned = false;
  for (const bytes of messagesOf(document.body)) {
    if (read > 0 && document.isOutOfTime()) break;
    if (
      read >= MAX_MESSAGES ||
      headerBytes >= MAX_FOLDER_HEADER_BYTES ||
      boundaries >= MAX_FOLDER_BOUNDARIES
    ) {
      document.warn(`messages beyond the first ${read} left out`);
      break;
    }
    read++;
    const message = boundedMessage(beginning(bytes));
    headerBytes += message.headerBytes;
    boundaries += message.boundaries;
    if (message.problem !== undefined && !warned) {
      document.warn(message.problem);
      warned = true;
    }
    try {
      emails.push(
        await PostalMime.parse(withReadableCharsets(message.bytes), {
          maxNestingDepth: MAX_NESTING,
          forceRfc822Attachments: true,
        }),
      );
    } catch (error) {
      document.warn(unreadable('a message', error));
    }
  }
  return emails;
}

/** Copies the start of a message, up to the limits of bytes and lines. */
function beginning(bytes: Uint8Array): Uint8Array {
  let end = -1;
  for (let lines = 0; lines < MAX_LINES; lines++) {
    end = bytes.indexOf(0x0a, end + 1);
    if (end < 0 || end >= MAX_MESSAGE_BYTES) return bytes.slice(0, MAX_MESSAGE_BYTES);
  }
  return bytes.slice(0, end + 1);
}

/** Splits a folder into messages; each begins with a line `From sender date` after a blank line (RFC 4155). */
function* messagesOf(body: Uint8Array): Generator<Uint8Array> {
  const bytes = bufferOf(body);
  if (!bytes.subarray(0, 5).equals(Buffer.from('From '))) {
    yield bytes;
    return;
  }
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf('\n\nFrom ', start);
    const end = found < 0 ? bytes.length : found + 1;
    const header = bytes.indexOf('\n', start);
    if (header >= 0 && header < end) yield bytes.subarray(header + 1, end);
    start = end + 1;
  }
}

function header(email: Email, key: string): string | undefined {
  return email.headers.find((field) => field.key === key)?.value;
}

function address(from: Address | undefined): string {
  if (from === undefined) return '';
  if (from.address === undefined) return from.name;
  return from.name === '' ? from.address : `${from.name} <${from.address}>`;
}

/** Returns the plain-text part; for a message with only an HTML part, its text without tags. */
function textOf(email: Email): string {
  return (
    email.text ??
    (email.html ?? '').replace(/<(?:style|script)\b[^>]*>[^<]*/gi, ' ').replace(/<[^<>]*>/g, ' ')
  );
}
