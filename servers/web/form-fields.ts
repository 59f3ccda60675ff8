// Decodes the fields of forms and query strings.
import type { FastifyRequest } from 'fastify';
import { decodeText } from '../../protocols/soif/index.js';
import { unescapeBytes } from '../../protocols/urls/index.js';

/**
 * Decodes the fields of a form, `name=value&...`. Pages of the 1990s send Latin-1, which is not valid UTF-8, so
 * each part is decoded like text in SOIF (BRK-1.10, SOIF-7.4).
 */
export function decodeFields(text: string): URLSearchParams {
  const fields = new URLSearchParams();
  for (const pair of text.split('&')) {
    const [name = '', ...value] = pair.split('=');
    if (pair !== '') fields.append(decodeField(name), decodeField(value.join('=')));
  }
  return fields;
}

function decodeField(text: string): string {
  const bytes = Buffer.from(text.replaceAll('+', ' '));
  if (!bytes.includes('%')) return decodeText(bytes);
  return decodeText(Buffer.from(unescapeBytes(bytes.toString('latin1')), 'latin1'));
}

/** The fields in the query of a request's URL. */
export function queryFields({ url }: FastifyRequest): URLSearchParams {
  const question = url.indexOf('?');
  return decodeFields(question < 0 ? '' : url.slice(question + 1));
}

/** The fields of a form in a request's body; empty if the body is not a form. */
export function bodyFields({ body }: FastifyRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams();
}

/** The path of a request's URL, without its query. */
export function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? '';
}
