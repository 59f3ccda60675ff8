// The forms of outputs that several kinds of vectors have.

/** Text if the bytes are UTF-8, else base64. */
export function textOf(bytes) {
  const text = Buffer.from(bytes).toString();
  return Buffer.from(text).equals(Buffer.from(bytes)) ? { text } : { base64: Buffer.from(bytes).toString('base64') };
}

export function objectOf({ type, url, attributes }) {
  return { type, url, attributes: attributes.map(({ name, value }) => ({ name, ...textOf(value) })) };
}

/** A text with a character for each byte. */
export function latin(bytes) {
  return Buffer.from(bytes).toString('latin1');
}
