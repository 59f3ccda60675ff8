// ObjectLists of the interface of 1995 as Latin-1 text: their items, with values that can be changed.

/** An item of a reply: its bytes, and the name and value of those that have Data. */
export interface Token {
  readonly code: string;
  readonly text: string;
  readonly name?: string;
  readonly value?: string;
}

const MAGIC = '\x32\x9f\xa1\xd2';
const SEPARATOR = ' - ';
const DATA = ['122', '124'];
const NAMED_DATA = '127';

/** A number as the interface has it. */
export function number32(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes.toString('latin1');
}

/** Data as the interface has it. */
export function dataOf(value: string): string {
  return MAGIC + number32(value.length) + value;
}

/** Returns the items of a reply whose Body is an ObjectList, or empty; the first is the Version. */
export function tokensOf(reply: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < reply.length; at = endOf(tokens, at)) tokens.push(tokenAt(reply, at));
  return tokens;
}

function endOf(tokens: readonly Token[], at: number): number {
  return at + (tokens.at(-1)?.text.length ?? 0);
}

function tokenAt(reply: string, at: number): Token {
  const code = reply.slice(at, at + 3);
  const body = at + 3 + SEPARATOR.length;
  if (code === '144') return { code, text: reply.slice(at, body + 4) };
  // A number may contain an LF.
  const from = code === '200' ? body + 8 : code === '111' || code === '103' ? body + 4 : body;
  if (DATA.includes(code)) {
    const [value, end] = readData(reply, body);
    return { code, text: reply.slice(at, end), value };
  }
  const lineEnd = reply.indexOf('\n', from) + 1;
  if (lineEnd === 0) return { code, text: reply.slice(at) };
  if (code !== NAMED_DATA) return { code, text: reply.slice(at, lineEnd) };
  const [value, end] = readData(reply, lineEnd + SEPARATOR.length);
  return { code, text: reply.slice(at, end), name: reply.slice(body, lineEnd - 1), value };
}

function readData(reply: string, at: number): [value: string, end: number] {
  const start = at + MAGIC.length + 4;
  const length = Buffer.from(reply.slice(start - 4, start), 'latin1').readUInt32BE(0);
  return [reply.slice(start, start + length), start + length];
}

/** Returns the bytes of an item with Data. */
export function itemOf(code: string, value: string, name?: string): string {
  return code + SEPARATOR + (name === undefined ? '' : `${name}\n${SEPARATOR}`) + dataOf(value);
}

/** Returns a reply with other items of some code. @param edit returns the bytes of an item */
export function mapTokens(reply: string, code: string, edit: (token: Token, at: number) => string): string {
  let at = 0;
  return tokensOf(reply)
    .map((token) => (token.code === code ? edit(token, at++) : token.text))
    .join('');
}

/** Returns a reply with changed values. @param edit returns undefined to leave out the item */
export function mapListedValues(
  reply: string,
  code: string,
  edit: (value: string, name: string) => string | undefined,
): string {
  return mapTokens(reply, code, ({ name, value = '' }) => {
    const changed = edit(value, name ?? '');
    return changed === undefined ? '' : itemOf(code, changed, name);
  });
}
