// Reads and writes the values of HTTP headers.
import type { IncomingHttpHeaders } from 'node:http';
import type { UnixSeconds } from '../../protocols/time.js';

/** Joins the values of repeated headers. */
export function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return plain;
}

/** Returns the values of Set-Cookie, which cannot be joined to one; without any, nothing. */
export function setCookiesOf({ 'set-cookie': values }: IncomingHttpHeaders): {
  setCookies?: readonly string[];
} {
  if (values === undefined) return {};
  return { setCookies: typeof values === 'string' ? [values] : values };
}

/** Splits a Content-Type: `Text/HTML; charset="UTF-8"` is type `text/html` and charset `utf-8`. */
export function splitContentType(header: string | undefined): {
  contentType?: string | undefined;
  charset?: string | undefined;
} {
  const type = /^\s*([\w.+-]+\/[\w.+-]+)/.exec(header ?? '')?.[1]?.toLowerCase();
  const charset = /;\s*charset\s*=\s*["']?([\w.:+-]+)/i.exec(header ?? '')?.[1]?.toLowerCase();
  return {
    contentType: type,
    charset,
  };
}

/** Parses an HTTP date in any of its three forms; 0 if it is not one. */
export function parseHttpDate(header: string | undefined): UnixSeconds {
  if (header === undefined || !/^[A-Za-z]{3,9},? [ \w:-]+$/.test(header)) return 0;
  // The asctime form has no zone and means GMT.
  const milliseconds = Date.parse(header.endsWith('GMT') ? header : `${header} GMT`);
  return milliseconds > 0 ? Math.floor(milliseconds / 1000) : 0;
}

/** The realm of a `WWW-Authenticate: Basic` challenge. */
export function basicRealm(header: string | undefined): string | undefined {
  // No part begins with a blank, so that a server cannot make the search quadratic by blanks.
  return /(?:^|,)\s*basic\s+(?:[^\s,][^,]*,\s*)??realm\s*=\s*"([^"]*)"/i.exec(header ?? '')?.[1];
}

export function basicCredentials(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}

/**
 * Decodes a header value whose bytes are characters: as UTF-8 if its bytes are valid UTF-8, as servers send a
 * Location without escapes; otherwise it stays ISO 8859-1.
 */
export function textOfHeader(value: string): string {
  if (!/[\u0080-\u00ff]/.test(value) || /[^\0-\u00ff]/.test(value)) return value;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value; // not UTF-8
  }
}
